// The scripted session: what Claude Code would send to its hooks and write into its transcript. Field sets as of Claude Code 2.1.332.
import { randomUUID } from 'node:crypto'
import { appendFileSync, mkdirSync } from 'node:fs'
import { dirname } from 'node:path'

const MODEL = 'claude-opus-5-5'
const VERSION = '2.1.332'

export interface ToolCall {
  tool: string
  input: { [key: string]: string | number | boolean }
  /** Of tools of an MCP server. */
  mcpServer?: string
}

export class DemoSession {
  readonly id = randomUUID()
  private readonly cwd: string
  private readonly transcript: string
  private readonly prompt = randomUUID()
  private parent: string | null = null
  private messages = 0
  private calls = 0

  /** `home`: the user's home folder, `cwd`: the project's. */
  constructor(home: string, cwd: string) {
    this.cwd = cwd
    this.transcript = `${home}/.claude/projects/${cwd.replace(/[^A-Za-z0-9]/g, '-')}/${this.id}.jsonl`
    mkdirSync(dirname(this.transcript), { recursive: true })
  }

  start(): object {
    return { ...this.common(), hook_event_name: 'SessionStart', source: 'startup' }
  }

  promptSubmitted(text: string): object {
    this.write({ type: 'user', promptId: this.prompt, message: { role: 'user', content: text } })
    return { ...this.inTurn(), hook_event_name: 'UserPromptSubmit', prompt: text }
  }

  stop(text: string): object {
    return {
      ...this.inTurn(),
      effort: { level: 'medium' },
      hook_event_name: 'Stop',
      stop_hook_active: false,
      last_assistant_message: text,
      background_tasks: [],
      session_crons: [],
    }
  }

  end(): object {
    return { ...this.common(), prompt_id: this.prompt, hook_event_name: 'SessionEnd', reason: 'other' }
  }

  /** One answer of the model: a transcript line for each block. Returns the id of the call it asks for. */
  says(blocks: { thinking?: string; text?: string; call?: ToolCall }): string {
    const message = `msg_demo${String(++this.messages).padStart(6, '0')}`
    const call = `toolu_demo${String(++this.calls).padStart(5, '0')}`
    const content = [
      ...(blocks.thinking === undefined
        ? []
        : [{ type: 'thinking', thinking: blocks.thinking, signature: 'EqQBDemoSignature==' }]),
      ...(blocks.text === undefined ? [] : [{ type: 'text', text: blocks.text }]),
      ...(blocks.call === undefined
        ? []
        : [{ type: 'tool_use', id: call, name: blocks.call.tool, input: blocks.call.input }]),
    ]
    for (const block of content) {
      this.write({
        type: 'assistant',
        message: {
          id: message,
          type: 'message',
          role: 'assistant',
          model: MODEL,
          content: [block],
          stop_reason: blocks.call === undefined ? 'end_turn' : 'tool_use',
          stop_sequence: null,
          usage: {
            input_tokens: 100 + this.messages,
            cache_creation_input_tokens: 7,
            cache_read_input_tokens: 5,
            output_tokens: 42,
          },
        },
      })
    }
    return call
  }

  before(id: string, call: ToolCall): object {
    return { ...this.ofCall('PreToolUse', call), tool_use_id: id }
  }

  after(id: string, call: ToolCall, response: unknown): object {
    return { ...this.ofCall('PostToolUse', call), tool_response: response, tool_use_id: id, duration_ms: 41 }
  }

  failed(id: string, call: ToolCall, error: string): object {
    return { ...this.ofCall('PostToolUseFailure', call), tool_use_id: id, error, is_interrupt: false, duration_ms: 32 }
  }

  /** Sent after every answer of the model that asked for calls; the only word on those that were stopped. */
  batch(id: string, call: ToolCall, response: string): object {
    const calls = [{ tool_name: call.tool, tool_input: call.input, tool_use_id: id, tool_response: response }]
    return { ...this.inTurn(), effort: { level: 'medium' }, hook_event_name: 'PostToolBatch', tool_calls: calls }
  }

  private ofCall(event: string, { tool, input, mcpServer }: ToolCall): object {
    return {
      ...this.inTurn(),
      effort: { level: 'medium' },
      hook_event_name: event,
      tool_name: tool,
      tool_input: input,
      ...(mcpServer === undefined ? {} : { mcp_server: { name: mcpServer, source: 'dynamic' } }),
    }
  }

  private common() {
    return { session_id: this.id, transcript_path: this.transcript, cwd: this.cwd }
  }

  private inTurn() {
    return { ...this.common(), prompt_id: this.prompt, permission_mode: 'default' }
  }

  private write(line: object): void {
    const uuid = randomUUID()
    const rest = {
      uuid,
      timestamp: new Date().toISOString(),
      userType: 'external',
      entrypoint: 'cli',
      cwd: this.cwd,
      sessionId: this.id,
      version: VERSION,
    }
    appendFileSync(
      this.transcript,
      `${JSON.stringify({ parentUuid: this.parent, isSidechain: false, ...line, ...rest })}\n`,
    )
    this.parent = uuid
  }
}
