// Variables: what this line set, what every shell has, and UNKNOWN for the rest.
import { UNKNOWN } from '../../call.ts'
import { isSecretName } from '../secrets.ts'
import type { Field, Shell, Taint } from './state.ts'
import { plain } from './state.ts'

/** Fields of a variable: its value on this line, what every shell has, or UNKNOWN. */
export function variable(shell: Shell, name: string): Field[] {
  const { scope } = shell
  if (/^[@*]$/.test(name)) return scope.positional?.slice(1) ?? [plain(UNKNOWN)]
  if (/^\d$/.test(name))
    return scope.positional === null ? [plain(UNKNOWN)] : [scope.positional[Number(name)] ?? plain('')]
  const set = scope.vars.get(name)
  if (set !== undefined) return set
  switch (name) {
    case 'HOME':
      return [plain(shell.home)]
    case 'PWD':
      return [plain(scope.cwd ?? UNKNOWN)]
    case 'OLDPWD':
      return [plain(scope.oldCwd ?? UNKNOWN)]
    case 'USER':
    case 'LOGNAME':
      return [plain(shell.home.slice(shell.home.lastIndexOf('/') + 1))]
    case 'TMPDIR':
      return [plain('/tmp')]
    case 'IFS':
      return [plain(' ')]
    default:
      return [isSecretName(name) ? { ...plain(UNKNOWN), taints: new Set<Taint>(['secret_env']) } : plain(UNKNOWN)]
  }
}
