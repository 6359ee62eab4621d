// Reads a file whose content is a secret or protects one.
import { readFileSync, statSync } from 'node:fs'

/** A file that holds a secret: as with keys, nobody else may have access to it. It may be a link, as mounted secrets are. Throws, naming `field`. */
export function readSecret(field: string, path: string): string {
  const text = readGiven(field, path)
  const mode = statSync(path).mode & 0o777
  if ((mode & 0o077) === 0) return text
  throw new Error(
    `${field} ${path} has mode ${mode.toString(8)}, so others could read or change it. Run: chmod 600 '${path}'`,
  )
}

/** A file that the configuration names. Throws, naming `field`. */
export function readGiven(field: string, path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new Error(`${field} ${path} can't be read (${(error as NodeJS.ErrnoException).code ?? 'unknown'})`)
  }
}
