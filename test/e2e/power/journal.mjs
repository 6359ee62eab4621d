// Stand-in for a disk that loses power, the half that runs inside a built process (node --import): writes down, in one sequence, each
// change to files of the home, each sync, and the moment each answer and each forwarded request leaves. It changes nothing.
// `disk.ts` makes from that what a disk may hold after a power cut.
//
// SPANSEAL_TEST_JOURNAL: the file to append to. SPANSEAL_TEST_HOME: the home that is watched.
import { subscribe } from 'node:diagnostics_channel'
import fs from 'node:fs'
import http from 'node:http'
import { syncBuiltinESMExports } from 'node:module'
import { dirname, resolve } from 'node:path'

const { SPANSEAL_TEST_JOURNAL: journal, SPANSEAL_TEST_HOME: home } = process.env
// The index process writes through native code that nothing here sees; its file is treated apart.
if (journal && home && !process.argv[1]?.includes('index-worker')) watch(journal, home)

/** Numbers are used again when a file is gone; the same number at another time of birth is another file. */
function idOf({ ino, birthtimeMs }) {
  return `${ino} ${birthtimeMs}`
}

function watch(journalPath, root) {
  const real = { ...fs }
  const realPromises = { ...fs.promises }
  const out = real.openSync(journalPath, 'a')
  const say = (event) => real.writeSync(out, `${JSON.stringify(event)}\n`)
  // Not programs, sockets and locks: no image has them.
  const inside = (path) =>
    typeof path === 'string' && `${path}/`.startsWith(`${root}/`) && !/\/(run|bin)(\/|$)/.test(path.slice(root.length))
  let nextOp = 0
  /** fd -> the file it is open on, and where a write without a position goes. */
  const open = new Map()

  function opened(fd, path, flags, existed) {
    if (!inside(path)) return
    const stat = real.fstatSync(fd)
    const mode = typeof flags === 'string' ? flags : 'r'
    const file = { ino: idOf(stat), dir: stat.isDirectory() ? path : undefined, append: mode.startsWith('a'), at: 0 }
    open.set(fd, file)
    if (file.dir !== undefined) return
    if (!existed) say({ op: 'create', path, ino: idOf(stat) })
    else if (mode.startsWith('w')) op({ op: 'truncate', ino: idOf(stat), size: 0 })()
  }

  // The process before may have been killed in the middle of a change: how far it came shows in the files.
  const paths = real
    .readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => `${parentPath}/${name}`)
  const files = paths.map((path) => ({ path, stat: real.statSync(path) }))
  // The forwarding process joins a collector that has said so.
  if (!process.argv[1]?.includes('forward-worker'))
    say({ op: 'start', files: files.map(({ path, stat }) => ({ path, ino: idOf(stat), size: stat.size })) })

  /** Begins an operation; the returned function ends it. */
  function op(event) {
    const id = `${process.pid}.${nextOp++}`
    say({ ...event, id })
    return (more) => say({ op: 'end', id, ...more })
  }

  function beginWrite(fd, bytes, position) {
    const file = open.get(fd)
    if (file === undefined || file.dir !== undefined) return () => {}
    const at = file.append ? real.fstatSync(fd).size : (position ?? file.at)
    const end = op({ op: 'write', ino: file.ino, at, data: Buffer.from(bytes).toString('base64') })
    return (written) => {
      if (typeof position !== 'number') file.at = at + written
      end({ written })
    }
  }

  const beginSync = (fd) => {
    const file = open.get(fd)
    if (file === undefined) return () => {}
    return op(file.dir === undefined ? { op: 'sync', ino: file.ino } : { op: 'syncdir', path: file.dir })
  }

  fs.openSync = (path, flags = 'r', mode) => {
    const existed = real.existsSync(path)
    const fd = real.openSync(path, flags, mode)
    opened(fd, path, flags, existed)
    return fd
  }
  fs.closeSync = (fd) => {
    open.delete(fd)
    real.closeSync(fd)
  }
  fs.writeSync = (fd, data, offset, length, position) => {
    const buffer = typeof data === 'string' ? Buffer.from(data) : data
    const from = typeof data === 'string' ? 0 : (offset ?? 0)
    const bytes = buffer.subarray(from, typeof data === 'string' ? undefined : from + (length ?? buffer.length - from))
    const end = beginWrite(fd, bytes, position)
    const written = real.writeSync(fd, bytes, 0, bytes.length, position ?? null)
    end(written)
    return written
  }
  for (const name of ['fsyncSync', 'fdatasyncSync']) {
    fs[name] = (fd) => {
      const end = beginSync(fd)
      real[name](fd)
      end()
    }
  }
  fs.ftruncateSync = (fd, size = 0) => {
    const file = open.get(fd)
    const end = file === undefined ? () => {} : op({ op: 'truncate', ino: file.ino, size })
    real.ftruncateSync(fd, size)
    end()
  }
  fs.writeFileSync = (path, data, options) => {
    const { flag = 'w', mode = 0o666, flush = false } = typeof options === 'object' && options !== null ? options : {}
    const fd = typeof path === 'number' ? path : fs.openSync(path, flag, mode)
    try {
      const bytes = typeof data === 'string' ? Buffer.from(data) : data
      for (let done = 0; done < bytes.length; ) done += fs.writeSync(fd, bytes, done)
      if (flush) fs.fsyncSync(fd)
    } finally {
      if (typeof path !== 'number') fs.closeSync(fd)
    }
  }
  fs.appendFileSync = (path, data, options) => fs.writeFileSync(path, data, { flag: 'a', ...options })
  fs.renameSync = (from, to) => {
    real.renameSync(from, to)
    if (inside(to)) say({ op: 'rename', from, to })
  }
  fs.linkSync = (from, to) => {
    real.linkSync(from, to)
    if (inside(to)) say({ op: 'link', from, to })
  }
  fs.unlinkSync = (path) => {
    real.unlinkSync(path)
    if (inside(path)) say({ op: 'unlink', path })
  }
  fs.rmSync = (path, options) => {
    const existed = real.existsSync(path)
    real.rmSync(path, options)
    if (inside(path) && existed) say({ op: 'unlink', path })
  }
  fs.mkdirSync = (path, options) => {
    const first = real.mkdirSync(path, options)
    const made = []
    for (let at = resolve(path); first !== undefined && at.length >= first.length; at = dirname(at)) made.unshift(at)
    for (const dir of made) if (inside(dir)) say({ op: 'mkdir', path: dir })
    return first
  }
  fs.promises.open = async (path, flags = 'r', mode) => {
    const existed = real.existsSync(path)
    const handle = await realPromises.open(path, flags, mode)
    opened(handle.fd, path, flags, existed)
    return watched(handle)
  }
  fs.promises.rename = async (from, to) => {
    await realPromises.rename(from, to)
    if (inside(to)) say({ op: 'rename', from, to })
  }

  // A change that this does not see would count as never made: better none at all.
  for (const [owner, names] of [
    [fs, ['writevSync', 'write', 'writev', 'writeFile', 'appendFile', 'truncateSync', 'ftruncate', 'rename', 'unlink']],
    [fs, ['cpSync', 'symlinkSync', 'rmdirSync', 'createWriteStream', 'copyFile', 'open', 'rm', 'link', 'mkdir']],
    [fs.promises, ['writeFile', 'appendFile', 'truncate', 'unlink', 'rm', 'rmdir', 'mkdir', 'link', 'cp', 'copyFile']],
  ]) {
    for (const name of names) {
      const call = owner[name]
      owner[name] = (...args) => (open.has(args[0]) || args.some(inside) ? unknown(name)() : call(...args))
    }
  }

  function unknown(name) {
    return () => {
      throw new Error(`journal.mjs does not know ${name}: teach it`)
    }
  }

  function watched(handle) {
    const { fd } = handle
    const write = handle.write.bind(handle)
    const close = handle.close.bind(handle)
    handle.write = async (buffer, offset = 0, length = buffer.length - offset, position = null) => {
      const end = beginWrite(fd, buffer.subarray(offset, offset + length), position)
      const result = await write(buffer, offset, length, position)
      end(result.bytesWritten)
      return result
    }
    const writev = handle.writev.bind(handle)
    handle.writev = async (buffers, position = null) => {
      const end = beginWrite(fd, Buffer.concat(buffers), position)
      const result = await writev(buffers, position)
      end(result.bytesWritten)
      return result
    }
    for (const name of ['appendFile', 'truncate', 'createWriteStream']) handle[name] = unknown(name)
    handle.writeFile = async (data) => {
      const bytes = typeof data === 'string' ? Buffer.from(data) : data
      for (let done = 0; done < bytes.length; ) done += (await handle.write(bytes, done)).bytesWritten
    }
    for (const name of ['sync', 'datasync']) {
      const sync = handle[name].bind(handle)
      handle[name] = async () => {
        const end = beginSync(fd)
        await sync()
        end()
      }
    }
    handle.close = async () => {
      open.delete(fd)
      await close()
    }
    return handle
  }

  // What leaves the process: a power cut after this moment takes back nothing of it.
  const emit = http.Server.prototype.emit
  http.Server.prototype.emit = function (event, ...args) {
    if (event === 'request') {
      const [request, response] = args
      const tag = request.headers['x-test-tag']
      if (tag !== undefined) sayWhenAnswered(response, tag)
    }
    return emit.call(this, event, ...args)
  }
  function sayWhenAnswered(response, tag) {
    let said = false
    for (const name of ['write', 'end']) {
      const send = response[name].bind(response)
      response[name] = (...args) => {
        if (!said) say({ op: 'answer', tag })
        said = true
        return send(...args)
      }
    }
  }
  // The forwarder's HTTP client tells of each request before its first byte leaves.
  subscribe('undici:request:create', ({ request }) => {
    if (request.body !== null) say({ op: 'sent', data: Buffer.from(request.body).toString('base64') })
  })
  syncBuiltinESMExports()
}
