// A stand-in for a model that speaks OpenAI's chat completions: asks for the tool that works, then for the one that fails, then
// answers. Only the model is a stand-in; the libraries and their instrumentation are real.
import { createServer, type Server } from 'node:http'

const CALLS = [
  { name: 'get_weather', arguments: { city: 'Paris' } },
  { name: 'read_file', arguments: { path: '/home/dev/project/missing.txt' } },
]

export class OpenAiModel {
  /** Requests that came. */
  asked = 0
  private server: Server | undefined

  /** Base URL for a client. */
  async start(): Promise<string> {
    const server = createServer((req, res) => {
      let body = ''
      req.on('data', (chunk) => {
        body += chunk
      })
      req.on('end', () => {
        res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(this.answer(JSON.parse(body))))
      })
    })
    this.server = server
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    const address = server.address()
    return `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}/v1`
  }

  async stop(): Promise<void> {
    this.server?.closeAllConnections()
    await new Promise((done) => this.server?.close(done))
  }

  private answer({ messages }: { messages: { role: string }[] }): object {
    const turn = messages.filter(({ role }) => role === 'assistant').length
    const call = CALLS[turn]
    const id = `call_${turn + 1}`
    const message =
      call === undefined
        ? { role: 'assistant', content: 'Clear; the file is not there.' }
        : {
            role: 'assistant',
            content: null,
            tool_calls: [
              { id, type: 'function', function: { name: call.name, arguments: JSON.stringify(call.arguments) } },
            ],
          }
    return {
      id: `chatcmpl-${this.asked++}`,
      object: 'chat.completion',
      created: 1_790_000_000,
      model: 'gpt-stub',
      choices: [{ index: 0, message, finish_reason: call === undefined ? 'stop' : 'tool_calls', logprobs: null }],
      usage: {
        prompt_tokens: 100 + turn,
        completion_tokens: 10,
        total_tokens: 110 + turn,
        prompt_tokens_details: { cached_tokens: 40 },
        completion_tokens_details: { reasoning_tokens: 3 },
      },
    }
  }
}
