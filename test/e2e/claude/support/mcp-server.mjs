// A tiny MCP server over stdio for the tests: `note` appends a line to a file, `fail` does that and reports an error.
import { appendFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

const inputSchema = { type: 'object', properties: { file: { type: 'string' } }, required: ['file'] }

function answer(method, params) {
  if (method === 'initialize') {
    const serverInfo = { name: 'test', version: '1' }
    return { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo }
  }
  if (method === 'tools/list') {
    return { tools: ['note', 'fail'].map((name) => ({ name, description: `${name} a file`, inputSchema })) }
  }
  if (method !== 'tools/call') return {}
  appendFileSync(params.arguments.file, 'ran\n')
  const failed = params.name === 'fail'
  return { content: [{ type: 'text', text: failed ? 'the tool failed' : 'noted' }], isError: failed }
}

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line)
  if (id !== undefined)
    process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result: answer(method, params) })}\n`)
}
