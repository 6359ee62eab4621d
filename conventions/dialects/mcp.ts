// The MCP conventions (client and server spans), and the gateway agentgateway, which uses them with a few names of its own.
import type { DialectReader, Draft } from './draft.ts'
import { genAiSpan } from './gen-ai.ts'
import type { SpanItem } from './item.ts'
import type { Reader } from './reader.ts'

export const mcp: DialectReader = (read, item) => {
  if (item.signal !== 'span' || !read.has('mcp.method.name')) return null
  return { ...mcpSpan(read, item), dialect: 'mcp' }
}

/** A span of the MCP conventions. An MCP session is one connection, not a conversation, so it is no session here. */
export function mcpSpan(read: Reader, item: SpanItem): Draft {
  read.known(
    'mcp.session.id',
    'mcp.protocol.version',
    'mcp.resource.uri',
    'network.transport',
    'rpc.response.status_code',
  )
  read.known('jsonrpc.request.id', 'jsonrpc.protocol.version', 'network.protocol.name', 'network.protocol.version')
  const method = read.text('mcp.method.name')
  const base = genAiSpan(read, item)
  const isTool = method === 'tools/call'
  return {
    ...base,
    // A request that is no tool call is none, whatever names it shares with one.
    operation: method === undefined ? base.operation : isTool ? 'execute_tool' : 'mcp',
    tool: base.tool ?? (isTool ? nameAfter(item.span.name, 'tools/call ') : undefined),
  }
}

function nameAfter(name: string, prefix: string): string | undefined {
  const rest = name.startsWith(prefix) ? name.slice(prefix.length) : ''
  return rest !== '' && rest.length <= 256 ? rest : undefined
}
