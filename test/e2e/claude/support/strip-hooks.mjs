// What an agent's own script may do in the project: switch the hooks off, in one settings file or another, `killed`: after it has
// killed the collector. No policy sees what a program does inside.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

const home = process.env.HOME
const [where, how] = process.argv.slice(2)
const file = {
  user: `${home}/.claude/settings.json`,
  project: '.claude/settings.json',
  local: '.claude/settings.local.json',
}[where]
if (how === 'killed')
  process.kill(Number.parseInt(readFileSync(`${home}/.spanseal/run/collector.lock`, 'utf8'), 10), 'SIGKILL')
const settings = where === 'user' ? JSON.parse(readFileSync(file, 'utf8')) : {}
mkdirSync(dirname(file), { recursive: true })
writeFileSync(
  file,
  JSON.stringify(how === 'removed' ? { ...settings, hooks: {} } : { ...settings, disableAllHooks: true }),
)
