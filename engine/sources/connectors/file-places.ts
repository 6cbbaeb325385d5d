/**
 * Where reading of files stands. A file is known by its inode, over names; one that was cut and written anew by its first
 * bytes, and a copy of what was read by the bytes before the place, too.
 */
import { createHash } from 'node:crypto'
import { type BigIntStats, constants } from 'node:fs'
import { type FileHandle, open, readdir, realpath, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { createGunzip, createZstdDecompress } from 'node:zlib'

/** Files that one pattern reads. */
export const FILES_MAX = 100
/** The first bytes of a file, by which one that was cut and written anew is told from one that grew. */
const HEAD_BYTES = 256
/** Bytes of a line: a longer one is cut there. */
export const LINE_MAX = 256 * 1024
/** gzip, zstd, xz, bzip2, zip, lz4, in hexadecimal digits. */
const PACKED = /^(?:1f8b|28b52ffd|fd377a585a|425a683|504b0304|04224d18)/
/** Names of a folder that are looked at. */
const NAMES_MAX = 1_000
/** Not for a pipe or a device, whose open or read would wait, nor for a link put there since its path was looked at. */
export const READ = constants.O_RDONLY | constants.O_NONBLOCK | (constants.O_NOFOLLOW ?? 0)

export interface Identity {
  inode: string
  /** When it was made, ns since 1970, where the file system says it: inodes are used again. */
  born?: string
  /** It is before the last change: some systems give that for it, which is another each time. */
  isSure?: true
}

/** Of a file, by its path. */
export interface Place extends Identity {
  /** How often it was cut and written anew: what says the same at the same place since is another line. */
  cuts?: number
  /** Bytes that were read. */
  at: number
  /** Hash of its first bytes, of as many as there were, `HEAD_BYTES` at most. */
  head: string
  headBytes: number
  /** Hash of as many bytes before `at`. */
  tail?: string
  /** It is packed, and not read. */
  isPacked?: true
  /** Its size then: one that has not grown since gives its last line, too, where lines may continue. */
  size: number
  /** No line of the last poll that brought some had a time. */
  isUntimed?: true
}

/** Places of all files that are known. */
export interface Met {
  /** As of the last poll. */
  earlier: readonly Place[]
  /** By inode, as of now: of a file that was renamed, too. */
  places: Map<string, Place>
  /** By inode, the real paths of those that this poll opened. */
  reals: Map<string, string>
}

/** By the path of each. */
export type Cursor = Record<string, Place>

export const identityOf = (info: Pick<BigIntStats, 'dev' | 'ino' | 'birthtimeNs' | 'ctimeNs'>): Identity => ({
  inode: `${info.dev}:${info.ino}`,
  ...(info.birthtimeNs > 0n ? { born: String(info.birthtimeNs) } : {}),
  ...(info.birthtimeNs < info.ctimeNs ? { isSure: true } : {}),
})

/** Of what an older version kept, and where the system does not say it, the inode alone tells. */
export const isOf = (place: Identity, file: Identity): boolean =>
  place.inode === file.inode &&
  (place.born === file.born ||
    place.born === undefined ||
    file.born === undefined ||
    !(place.isSure || file.isSure))

export const isHeadOf = async (handle: FileHandle, { head, headBytes }: Place): Promise<boolean> =>
  (await marksOf(handle, headBytes, 0)).head === head

/**
 * Up to where a new file holds what was read of another: one that was copied here before it was cut (copytruncate).
 * @returns null: it is no such copy; unfinished: it is one that is still being written
 */
export async function copiedUpTo(
  handle: FileHandle,
  size: number,
  { earlier, places, reals }: Met,
): Promise<number | 'unfinished' | null> {
  for (const place of earlier) {
    const { inode, at, head, headBytes, tail } = place
    if (headBytes < HEAD_BYTES) continue
    const now = places.get(inode)
    const isCut = now !== undefined && (now.cuts ?? 0) > (place.cuts ?? 0)
    const real = reals.get(inode)
    if (!isCut && now && size < now.size && real && (await isBeginOf(handle, size, real))) return 'unfinished'
    if (at > size) continue
    // Looked at between the copy and the cut, both are of one size.
    if (!isCut && now?.size !== size) continue
    const marks = await marksOf(handle, headBytes, at)
    if (marks.head === head && marks.tail === tail) return isCut ? at : now!.at
  }
  return null
}

/** Bytes at its end by which a copy that is not whole yet is told. */
const COMPARED_BYTES = 64 * 1024

/** Whether the file says what the one at the path says up to there, as far back as is compared. */
async function isBeginOf(handle: FileHandle, size: number, path: string): Promise<boolean> {
  const length = Math.min(size, COMPARED_BYTES)
  const other = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    const [own, its] = [Buffer.alloc(length), Buffer.alloc(length)]
    await handle.read(own, 0, length, size - length)
    await other.read(its, 0, length, size - length)
    return length > 0 && own.equals(its)
  } finally {
    await other.close()
  }
}

/**
 * The file that a rotation renamed after another, between two polls: its name has the same form, but for digits and for being
 * packed, and it was written later. @param path the name that both had @param place of the one before @returns null: there is none
 */
export async function rotatedNext(
  folder: string,
  path: string,
  place: Place,
  { places }: Met,
): Promise<Place | null> {
  const name = await nameNow(folder, path, place)
  if (name === null) return null
  const plain = name.replace(PACKED_NAME, '')
  const form = new RegExp(
    `^${plain.replace(/[^\w-]/g, '\\$&').replace(/\d+/g, '\\d+')}(?:${PACKED_NAME.source.slice(0, -1)})?$`,
  )
  const since = (await stat(join(folder, name), { bigint: true })).mtimeNs
  const names = (await readdir(folder)).filter((one) => form.test(one) && one !== basename(path))
  const infos = await Promise.all(
    names.slice(0, NAMES_MAX).map((one) => stat(join(folder, one), { bigint: true }).catch(() => null)),
  )
  const [next] = infos
    .filter((info) => info?.isFile() && info.mtimeNs > since && !places.has(identityOf(info).inode))
    .sort((a, b) => (a!.mtimeNs < b!.mtimeNs ? -1 : 1))
  return next ? { ...identityOf(next), at: 0, size: 0, ...NO_HEAD } : null
}

/** Name of the file in its folder now, also where a rotation packed it; null: it is gone from there. @param path its old name */
export const nameNow = async (folder: string, path: string, place: Place): Promise<string | null> =>
  (await namedNow(folder, path, place)) ?? (await packedNow(folder, path, place))

/** Most rotations only add to the name. */
const beginOf = (path: string): string => basename(path).replace(/\.[^.]*$/, '')

async function namedNow(folder: string, path: string, place: Place): Promise<string | null> {
  const begin = beginOf(path)
  const isLike = (name: string) => (name.startsWith(begin) ? 0 : 1)
  const names = (await readdir(folder)).sort((a, b) => isLike(a) - isLike(b))
  for (const name of names.slice(0, NAMES_MAX)) {
    const info = await stat(join(folder, name), { bigint: true }).catch(() => null)
    if (info?.isFile() && isOf(place, identityOf(info))) return name
  }
  return null
}

/**
 * Those that are read: where they are too many, those written last. The ones that are known come first, so that what is
 * left of one that was renamed is read by its old name.
 */
export async function chosenOf(paths: readonly string[], known: Cursor | null): Promise<string[]> {
  const isNew = (path: string) => (known?.[path] === undefined ? 1 : 0)
  const ordered = (some: readonly string[]) => [...some].sort((a, b) => isNew(a) - isNew(b))
  if (paths.length <= FILES_MAX) return ordered(paths)
  const written = await Promise.all(
    paths.map(async (path) => ({ path, at: (await stat(path).catch(() => null))?.mtimeMs ?? 0 })),
  )
  const newest = written.sort((a, b) => b.at - a.at).slice(0, FILES_MAX)
  return ordered(newest.map(({ path }) => path).sort())
}

/**
 * Where files stand that were not read: of those that are too many, and of those that a rotation renamed to another form
 * while there is no new one yet, whose rest is read once there is.
 */
export async function placesOfOthers(
  form: string,
  fromStart: boolean,
  paths: readonly string[],
  known: Cursor | null,
  next: Cursor,
): Promise<[string, Place][]> {
  const places: [string, Place][] = []
  const others = paths.filter((path) => next[path] === undefined)
  const read = new Set(Object.values(next).map(({ inode }) => inode))
  for (const path of others) {
    const info = known || fromStart ? null : await stat(path, { bigint: true }).catch(() => null)
    const atEnd = info && { ...identityOf(info), at: Number(info.size), size: Number(info.size), ...NO_HEAD }
    const place = known?.[path] ?? atEnd
    if (place) places.push([path, place])
  }
  const gone = Object.entries(known ?? {}).filter(
    ([path, { inode }]) => !paths.includes(path) && !read.has(inode),
  )
  if (gone.length === 0 || !basename(form).includes('*')) return places
  const folder = await realpath(dirname(form))
  for (const [path, place] of gone)
    if ((await nameNow(folder, path, place)) !== null) places.push([path, place])
  return places
}

export const hashOf = (bytes: Buffer | string): string =>
  createHash('sha256').update(bytes).digest('base64url').slice(0, 16)

const NO_HEAD = { head: hashOf(''), headBytes: 0 }

/** Hashes of the first bytes of a file, and of those before a place in it. */
export async function marksOf(handle: FileHandle, size: number, at: number) {
  const headBytes = Math.min(size, HEAD_BYTES)
  const tailBytes = Math.min(at, HEAD_BYTES)
  const bytes = Buffer.alloc(headBytes + tailBytes)
  await handle.read(bytes, 0, headBytes, 0)
  if (tailBytes > 0) await handle.read(bytes, headBytes, tailBytes, at - tailBytes)
  return { head: hashOf(bytes.subarray(0, headBytes)), headBytes, tail: hashOf(bytes.subarray(headBytes)) }
}

/** By its first bytes, whatever its name. */
export async function hasPackedHead(handle: FileHandle): Promise<boolean> {
  return PACKED.test(await headOf(handle))
}

async function headOf(handle: FileHandle): Promise<string> {
  const bytes = Buffer.alloc(6)
  const { bytesRead } = await handle.read(bytes, 0, 6, 0)
  return bytes.toString('hex', 0, bytesRead)
}

/* A file that a rotation packed at once: what it gained since the last poll is in the packed one alone. */

const PACKED_NAME = /\.(?:gz|zst)$/
/** Packed files of a name that are looked at, those written last. */
const PACKED_MAX = 20
/** Of more, unpacked, the rest is not read: each poll unpacks from the beginning. */
const UNPACKED_MAX = 1024 ** 3

/** The packed file that begins like it. Of one that was empty nothing tells. */
async function packedNow(folder: string, path: string, place: Place): Promise<string | null> {
  if (place.headBytes === 0) return null
  const begin = beginOf(path)
  const names = (await readdir(folder)).filter((name) => name.startsWith(begin) && PACKED_NAME.test(name))
  const infos = await Promise.all(
    names.slice(0, NAMES_MAX).map(async (name) => ({
      name,
      info: await stat(join(folder, name)).catch(() => null),
    })),
  )
  const newest = infos.filter(({ info }) => info?.isFile()).sort((a, b) => b.info!.mtimeMs - a.info!.mtimeMs)
  for (const { name } of newest.slice(0, PACKED_MAX)) {
    const handle = await open(join(folder, name), READ).catch(() => null)
    if (!handle) continue
    try {
      const begins = await unpacked(handle, 0, place.headBytes, place.headBytes)
      if (begins && hashOf(begins.bytes) === place.head) return name
    } finally {
      await handle.close()
    }
  }
  return null
}

/** What a file of another name holds, or what it holds packed. */
export interface Rest {
  /** Unpacked. */
  size: number
  read(bytes: Buffer, offset: number, length: number, at: number): Promise<{ bytesRead: number }>
  /** Hash of the bytes before a place up to which it was read. */
  tailAt(at: number): Promise<string>
  close(): Promise<void>
}

/**
 * @param place where reading stands. @param most bytes that are read from there.
 * @returns null: it is packed, and not what was read, or too large
 */
export async function openRest(path: string, place: Place, most: number): Promise<Rest | null> {
  const handle = await open(path, READ)
  const close = () => handle.close()
  try {
    if (!(await hasPackedHead(handle))) {
      const { size } = await handle.stat()
      const tailAt = async (at: number) => (await marksOf(handle, 0, at)).tail
      return { size, read: (...args) => handle.read(...args), tailAt, close }
    }
    const from = Math.max(0, place.at - HEAD_BYTES)
    const found = await unpacked(handle, from, place.at + most, UNPACKED_MAX)
    const hashAt = (at: number) =>
      hashOf(found!.bytes.subarray(Math.max(0, at - HEAD_BYTES) - from, at - from))
    await close()
    if (!found || found.isMore || (place.tail !== undefined && hashAt(place.at) !== place.tail)) return null
    const { size, bytes: held } = found
    return {
      size,
      read: async (bytes, offset, length, at) => ({
        bytesRead: held.copy(bytes, offset, at - from, at - from + length),
      }),
      tailAt: async (at) => hashAt(at),
      close: async () => {},
    }
  } catch (error) {
    await close()
    throw error
  }
}

/**
 * Unpacks a file from its beginning. @param from @param to which bytes are kept. @param most where it ends at the latest.
 * @returns null: it is packed in a form that is not read, or not whole
 */
async function unpacked(
  handle: FileHandle,
  from: number,
  to: number,
  most: number,
): Promise<{ bytes: Buffer; size: number; isMore: boolean } | null> {
  const head = await headOf(handle)
  const unpack = head.startsWith('1f8b')
    ? createGunzip()
    : head.startsWith('28b52ffd')
      ? createZstdDecompress()
      : null
  if (!unpack) return null
  const source = handle.createReadStream({ start: 0, autoClose: false })
  source.on('error', (error) => unpack.destroy(error))
  const kept: Buffer[] = []
  let size = 0
  try {
    for await (const chunk of source.pipe(unpack) as AsyncIterable<Buffer>) {
      const [begin, end] = [Math.max(0, from - size), Math.min(chunk.length, to - size)]
      // A copy, so that no more than what is kept stays in memory.
      if (begin < end) kept.push(Buffer.from(chunk.subarray(begin, end)))
      size += chunk.length
      if (size >= most) break
    }
    return { bytes: Buffer.concat(kept), size, isMore: size >= most }
  } catch (error) {
    // Cut off or broken, as a file that is still being packed.
    if (/^(?:Z_|ZSTD_)/.test((error as NodeJS.ErrnoException).code ?? '')) return null
    throw error
  } finally {
    source.destroy()
  }
}

/** Where the last whole line ends. */
export async function lastLineEnd(handle: FileHandle, size: number): Promise<number> {
  const from = Math.max(0, size - LINE_MAX)
  const bytes = Buffer.alloc(size - from)
  await handle.read(bytes, 0, bytes.length, from)
  return from + bytes.lastIndexOf(10) + 1
}
