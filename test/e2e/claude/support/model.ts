// A stand-in for Anthropic's Messages API: answers a real Claude Code from a script and keeps what it was sent.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'

/** Denied and asked about by the built-in policy. */
export const FORCE_PUSH = 'git push --force origin main'
export const PUSH = 'git push origin main'

export interface ToolUse {
  id: string
  name: string
  input: object
}

/** One answer of the model. `before` runs first; an `error` is answered instead of everything else. */
export interface Step {
  before?: () => unknown
  error?: { status: number; type: string }
  thinking?: string
  text?: string
  calls?: ToolUse[]
}

/** A command that leaves a mark each time it runs, then does more. */
export function bash(id: string, more = 'true'): ToolUse {
  return { id, name: 'Bash', input: { command: `echo ran >> marks/${id}; ${more}`, description: id } }
}

/** A sub-agent that is answered from `script`. */
export function agent(id: string, script: string, run_in_background: boolean): ToolUse {
  const input = { description: id, prompt: `Work. [[${script}]]`, subagent_type: 'general-purpose', run_in_background }
  return { id, name: 'Agent', input }
}

interface Block {
  type: string
  text?: string
  tool_use_id?: string
  is_error?: boolean
  content?: string | Block[]
}

interface MessagesRequest {
  model: string
  tools?: { name: string }[]
  messages: { role: string; content: string | Block[] }[]
}

/** What the model said when its script was over. */
const NOTHING_MORE = 'Nothing more to do.'

/** `[[name]]` in a prompt: which script answers. The last one in a conversation counts. */
const SCRIPT_NAME = /\[\[([a-z-]+)\]\]/g

export class Model {
  /** What came back for each tool call, by its id. */
  readonly results = new Map<string, { text: string; error: boolean }>()
  readonly requests: MessagesRequest[] = []
  /** Whatever was asked for that this does not know. */
  readonly strange: string[] = []
  /** What went wrong while a step was prepared: the scenario is not what it claims to be. */
  readonly failures: unknown[] = []
  private readonly scripts: Map<string, Step[]>
  private messages = 0
  private server: Server | undefined
  private port = 0

  constructor(scripts: Record<string, Step[]>) {
    this.scripts = new Map(Object.entries(scripts))
  }

  async start(): Promise<this> {
    const server = createServer((req, res) => {
      this.answer(req, res).catch((error: unknown) => {
        this.failures.push(error)
        res.destroy()
      })
    })
    this.server = server
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    const address = server.address()
    this.port = typeof address === 'object' && address !== null ? address.port : 0
    return this
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`
  }

  /** Steps that nobody asked for, as `script: number left`. */
  left(): string[] {
    return [...this.scripts].filter(([, steps]) => steps.length > 0).map(([name, { length }]) => `${name}: ${length}`)
  }

  async stop(): Promise<void> {
    this.server?.closeAllConnections()
    await new Promise((done) => (this.server === undefined ? done(null) : this.server.close(done)))
  }

  private async answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of req) chunks.push(chunk as Buffer)
    const path = (req.url ?? '').replace(/\?.*/, '')
    if (path === '/v1/messages/count_tokens') return json(res, 200, { input_tokens: 10 })
    if (path !== '/v1/messages') {
      this.strange.push(`${req.method} ${path}`)
      return json(res, 404, { type: 'error', error: { type: 'not_found_error', message: 'not here' } })
    }
    const request = JSON.parse(Buffer.concat(chunks).toString()) as MessagesRequest
    this.requests.push(request)
    this.keepResults(request)
    const step = this.next(request)
    await step.before?.()
    if (step.error !== undefined)
      return json(res, step.error.status, { type: 'error', error: { type: step.error.type, message: 'as scripted' } })
    stream(res, events(step, `msg_test${++this.messages}`, request.model))
  }

  /** Titles and summaries are asked for without tools: they use up no step. */
  private next(request: MessagesRequest): Step {
    const said = request.messages.filter(({ role }) => role === 'user').map(({ content }) => ownText(content))
    const name = [...said.join('\n').matchAll(SCRIPT_NAME)].at(-1)?.[1] ?? ''
    const step = (request.tools ?? []).length > 0 ? this.scripts.get(name)?.shift() : undefined
    return step ?? { text: NOTHING_MORE }
  }

  private keepResults({ messages }: MessagesRequest): void {
    for (const { content } of messages) {
      if (typeof content === 'string') continue
      for (const block of content) {
        if (block.type !== 'tool_result' || block.tool_use_id === undefined) continue
        this.results.set(block.tool_use_id, { text: ownText(block.content ?? ''), error: block.is_error === true })
      }
    }
  }
}

function ownText(content: string | Block[]): string {
  return typeof content === 'string' ? content : content.map((block) => block.text ?? '').join('\n')
}

function events(step: Step, id: string, model: string): object[] {
  const usage = { input_tokens: 12, cache_read_input_tokens: 3, cache_creation_input_tokens: 2, output_tokens: 7 }
  const blocks: { start: object; deltas: object[] }[] = []
  if (step.thinking !== undefined)
    blocks.push({
      start: { type: 'thinking', thinking: '', signature: '' },
      deltas: [
        { type: 'thinking_delta', thinking: step.thinking },
        { type: 'signature_delta', signature: 'c2lnbmF0dXJl' },
      ],
    })
  if (step.text !== undefined)
    blocks.push({ start: { type: 'text', text: '' }, deltas: [{ type: 'text_delta', text: step.text }] })
  for (const { id, name, input } of step.calls ?? [])
    blocks.push({
      start: { type: 'tool_use', id, name, input: {} },
      deltas: [{ type: 'input_json_delta', partial_json: JSON.stringify(input) }],
    })
  const stop_reason = step.calls === undefined ? 'end_turn' : 'tool_use'
  const message = { id, type: 'message', role: 'assistant', model, content: [], stop_reason: null, stop_sequence: null }
  return [
    { type: 'message_start', message: { ...message, usage } },
    ...blocks.flatMap(({ start, deltas }, index) => [
      { type: 'content_block_start', index, content_block: start },
      ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
      { type: 'content_block_stop', index },
    ]),
    { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage },
    { type: 'message_stop' },
  ]
}

function stream(res: ServerResponse, all: object[]): void {
  res.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const event of all) res.write(`event: ${(event as { type: string }).type}\ndata: ${JSON.stringify(event)}\n\n`)
  res.end()
}

function json(res: ServerResponse, status: number, body: object): void {
  res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}
