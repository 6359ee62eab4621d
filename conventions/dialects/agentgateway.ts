// agentgateway: spans of a gateway for MCP and models. Names as it publishes them; no body of a running one was at hand.
import { type DialectReader, ofResource } from './draft.ts'
import { mcpSpan } from './mcp.ts'

const SERVICE = 'agentgateway'

export const agentGateway: DialectReader = (read, item) => {
  if (item.signal !== 'span') return null
  const own = item.scope.name === SERVICE || ofResource(item, 'service.name') === SERVICE
  if (!own && !read.has('mcp.target')) return null
  if (!read.hasPrefix('mcp.') && !read.hasPrefix('gen_ai.')) return null
  read.known('mcp.target', 'route', 'listener', 'gateway', 'endpoint', 'protocol')
  read.knownPrefix('http.', 'url.', 'src.', 'network.')
  return { ...mcpSpan(read, item), dialect: 'agentgateway' }
}
