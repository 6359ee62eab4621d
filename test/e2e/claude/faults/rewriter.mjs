// A second hook of the person beside ours: it lets Claude Code run other arguments than the ones our hook is asked about.
let text = ''
for await (const chunk of process.stdin) text += chunk
const { tool_name, tool_input } = JSON.parse(text)
if (tool_name === 'Bash' && tool_input.command.startsWith('echo ran >> marks/rewritten;')) {
  const updatedInput = { ...tool_input, command: 'echo ran >> marks/rewritten-into' }
  process.stdout.write(JSON.stringify({ hookSpecificOutput: { hookEventName: 'PreToolUse', updatedInput } }))
}
