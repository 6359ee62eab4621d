// Raw connections, remote shells and copies, name look-ups.
import { UNKNOWN } from '../../call.ts'
import type { Parsed } from '../shell/options.ts'
import { flagWords, hasFlag, names, parseOptions, valuesOf, withText } from '../shell/options.ts'
import type { Out, Shell } from '../shell/state.ts'
import { deeper, NOTHING, unknownOut } from '../shell/state.ts'
import { elsewhere, isRemote, remoteOrRead } from './remote.ts'
import { configuration, optionRuns } from './simple.ts'
import type { Cmd, Readers } from './types.ts'

export const netReaders: Readers = {
  nc: netcat,
  ncat: netcat,
  netcat,
  telnet: netcat,
  socat,
  ssh,
  mosh: ssh,
  autossh: ssh,
  sshpass: (cmd, shell) =>
    shell.runFields(
      shell,
      parseOptions(cmd.args, { valued: names('-p -f -d -P'), stopAtOperand: true }).operands,
      cmd.input,
      [...cmd.via, cmd.name],
    ),
  scp,
  sftp: scp,
  rclone: (cmd, shell) => {
    const operands = parseOptions(cmd.args).operands.slice(1)
    for (const operand of operands.slice(0, -1)) remoteOrRead(cmd, shell, operand)
    const target = operands.at(-1)
    if (target !== undefined && isRemote(target.text))
      shell.sink.net(target.text, cmd.name, { dir: 'out', carries: 'file' })
    return unknownOut('network')
  },
  dig: lookup,
  host: lookup,
  nslookup: lookup,
  drill: lookup,
  getent: lookup,
  ping: lookup,
  ping6: lookup,
  traceroute: lookup,
}

function netcat(cmd: Cmd, shell: Shell): Out {
  const parsed = parseOptions(cmd.args, {
    valued: names('-e -c -i -p -s -w -q -x -X -o -g -G --exec --sh-exec --lua-exec --proxy --source'),
  })
  cmd.run.flags = flagWords(parsed)
  for (const value of valuesOf(parsed, '-e', '-c', '--exec', '--sh-exec', '--lua-exec')) {
    shell.sink.feed('network', 'shell', cmd.name)
    deeper(shell, () => shell.readText(shell, value.text, NOTHING))
  }
  const [host, port] = parsed.operands
  const probes = hasFlag(parsed, '-z')
  const sends = !probes && (cmd.input.text === null || cmd.input.taints.size > 0)
  if (host !== undefined)
    shell.sink.net(`tcp://${host.text}:${port?.text ?? ''}`, cmd.name, {
      dir: sends ? 'out' : 'in',
      carries: sends ? 'file' : 'nothing',
      computed: host.taints.has('command'),
    })
  return unknownOut('network')
}

function socat(cmd: Cmd, shell: Shell): Out {
  for (const { text } of cmd.args) {
    const program = /^(?:exec|system|shell):(.*)$/i.exec(text)
    if (program !== null) {
      shell.sink.feed('network', 'shell', cmd.name)
      deeper(shell, () => shell.readText(shell, (program[1] ?? '').split(',')[0] ?? '', NOTHING))
    }
    const host = /^(?:tcp|udp|openssl|ssl|tcp4|tcp6|socks4|proxy)(?:-connect)?:([^:,]+):?(\d*)/i.exec(text)
    if (host !== null) shell.sink.net(`tcp://${host[1]}:${host[2]}`, cmd.name, { dir: 'out', carries: 'body' })
    const file = /^(?:open|file|create|gopen|unix-connect|unix|unix-client):([^,]+)/i.exec(text)
    if (file?.[1] !== undefined) {
      shell.sink.read(file[1], cmd.name)
      shell.sink.write(file[1], cmd.name)
    }
  }
  return unknownOut('network')
}

const SSH_VALUES = names('-B -b -c -D -E -e -F -I -i -J -L -l -m -O -o -p -Q -R -S -W -w -P -s')

const SSH_PROGRAMS =
  /^(?:ProxyCommand|LocalCommand|KnownHostsCommand|PermitLocalCommand|PKCS11Provider|SecurityKeyProvider|Match|Include|XAuthLocation)[= ]/i

function sshOptions(cmd: Cmd, shell: Shell, parsed: Parsed): void {
  for (const value of valuesOf(parsed, '-o')) {
    if (SSH_PROGRAMS.test(value.text)) optionRuns(cmd, shell, withText(value, value.text.replace(/^\w+[= ]\s*/, '')))
  }
  for (const value of valuesOf(parsed, '-F')) configuration(cmd, shell, value)
}

function ssh(cmd: Cmd, shell: Shell): Out {
  const parsed = parseOptions(cmd.args, { valued: SSH_VALUES, stopAtOperand: true })
  cmd.run.flags = flagWords(parsed)
  sshOptions(cmd, shell, parsed)
  const [host, ...rest] = parsed.operands
  if (host === undefined) return unknownOut('network')
  const after = parseOptions(rest, { valued: SSH_VALUES, stopAtOperand: true })
  sshOptions(cmd, shell, after)
  cmd.run.flags = [...cmd.run.flags, ...flagWords(after)]
  const sends = cmd.input.text === null || cmd.input.taints.size > 0
  shell.sink.net(`ssh://${host.text}`, cmd.name, {
    dir: sends ? 'out' : 'in',
    carries: sends ? 'file' : 'nothing',
    computed: host.taints.has('command'),
  })
  const command = after.operands.map(({ text }) => text).join(' ')
  if (command !== '') deeper(shell, () => elsewhere(shell, () => shell.readText(shell, command, cmd.input)))
  return unknownOut('network')
}

function scp(cmd: Cmd, shell: Shell): Out {
  const parsed = parseOptions(cmd.args, { valued: names('-c -F -i -J -l -o -P -S -D -X -b -B -R -s') })
  sshOptions(cmd, shell, parsed)
  for (const value of valuesOf(parsed, '-S', '-D')) optionRuns(cmd, shell, value)
  for (const value of valuesOf(parsed, '-b')) shell.sink.read(value.text, cmd.name)
  const target = parsed.operands.at(-1)
  const sources = parsed.operands.slice(0, -1)
  for (const source of sources) remoteOrRead(cmd, shell, source)
  if (target === undefined) return NOTHING
  if (isRemote(target.text) || cmd.name === 'sftp') {
    const sends = sources.length > 0 || cmd.input.taints.size > 0
    shell.sink.net(`ssh://${target.text.replace(/:.*/, '')}`, cmd.name, {
      dir: sends ? 'out' : 'in',
      carries: sends ? 'file' : 'nothing',
    })
  } else shell.sink.write(target.text, cmd.name)
  return NOTHING
}

/** Name look-ups send the name. */
function lookup(cmd: Cmd, shell: Shell): Out {
  const parsed = parseOptions(cmd.args, { valued: names('-c -t -q -p -i -w -W -s -I') })
  const operands = cmd.name === 'getent' ? parsed.operands.slice(1) : parsed.operands
  for (const operand of operands) {
    if (/^[+@]|^(A|AAAA|MX|TXT|NS|ANY|CNAME|SOA|PTR)$/.test(operand.text)) continue
    const made = operand.text.includes(UNKNOWN) && operand.taints.size > 0
    shell.sink.net(operand.text, cmd.name, {
      dir: made ? 'out' : 'in',
      carries: operand.taints.has('file') ? 'file' : 'nothing',
      computed: made,
    })
  }
  return unknownOut('network')
}
