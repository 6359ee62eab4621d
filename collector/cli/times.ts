// Times and lengths in words.

/** `2026-11-30 17:48:28` in UTC, of an ISO time; empty without one. */
export function dateTime(iso: string | null | undefined): string {
  return iso ? `${iso.slice(0, 10)} ${iso.slice(11, 19)}` : ''
}

/** `17:48:28` in UTC. */
export function clock(iso: string | null | undefined): string {
  return iso ? iso.slice(11, 19) : ''
}

/** Milliseconds as `365 ms`, `1.2 s`, `3 min 5 s` or `2 h 4 min`. */
export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`
  const seconds = ms / 1_000
  if (seconds < 60) return `${seconds.toFixed(1)} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes} min ${Math.floor(seconds % 60)} s`
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

/** `1 call`, `2 calls`. */
export function counted(n: number, one: string, many = `${one}s`): string {
  return `${n} ${n === 1 ? one : many}`
}
