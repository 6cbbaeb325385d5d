/**
 * Lines that files of the daemon's machine gain. A file is known by its inode, so that one that was renamed by a rotation is
 * read to its end before the new one is begun; one that was cut and written anew is read from its start.
 *
 * An admin key names paths, but only the operator of the machine says which may be read: those below SVC_FILES.
 */
import { constants } from 'node:fs'
import { open, readdir, realpath } from 'node:fs/promises'
import { basename, dirname, join, resolve, sep } from 'node:path'
import type { FieldsOf } from '../../../schemas/fields-of.ts'
import { countWords } from '../../../schemas/plain-words.ts'
import type { FileConfig } from '../../../schemas/types.ts'
import { oneLine } from '../../log/ingest/label.ts'
import { compileZone, zoneFaults } from '../../log/ingest/time.ts'
import { compileGroups, compileSearch, groupNames, patternFault } from '../../model/pattern.ts'
import { type MappedEvent, type PollConnector, type Polled, type Reach, UpstreamError } from './connector.ts'
import {
  type Cursor,
  chosenOf,
  copiedUpTo,
  FILES_MAX,
  hashOf,
  hasPackedHead,
  type Identity,
  identityOf,
  isHeadOf,
  isOf,
  LINE_MAX,
  lastLineEnd,
  type Met,
  marksOf,
  nameNow,
  openRest,
  type Place,
  placesOfOthers,
  READ,
  type Rest,
  rotatedNext,
} from './file-places.ts'
import { compileWanted, jsonLine, lineFields, lineTime, messageOf, plainLine } from './upstream.ts'

const TEXT_MAX = 300
/** Bytes of one poll, over all files; where there are more the next one is due at once. */
const POLL_BYTES = 4 * 1024 * 1024
/** Lines that one event takes at most. */
const CONTINUED_MAX = 500
/** A file that cannot be read is looked at again after this: the machine is ours, nothing is spared by waiting longer. */
const AGAIN_MS = 30_000
/** Bytes at the end that a discovery looks at. */
const TAIL_BYTES = 64 * 1024
const PATTERNS = ['match', 'drop', 'continues', 'label_pattern'] as const
const ENTITY = 'file'
/** Lines of one poll that are looked at before a notice says that none has a time. */
const UNTIMED_LINES = 20

interface FileItem {
  raw: string
  file: string
  path: string
  /** Where the line begins, in bytes. */
  at: number
  inode: string
  /** Tells files apart that have one inode one after the other. */
  begun?: string
  cut?: true
}

export const file: PollConnector = {
  kind: 'file',
  label: 'Files',
  mode: 'poll',
  description:
    'Lines that files of the machine of the daemon gain, over rotation. SVC_FILES of the daemon names the folders that may be read.',
  sourceType: 'application_log',
  configSchema: 'connector-file.json',
  suggestedPoll: '2s',
  minPollMs: 1_000,
  identity: ['path'],
  provides: [
    { name: ENTITY, help: 'Name of the file, without its folder.', primary: true },
    { name: 'path', help: 'Whole path of the file.' },
    { name: 'level', help: 'Level of the line: TRACE to CRIT; of a JSON line, its own field.' },
    { name: 'http_method', help: 'Method of a request noted in the line.' },
    { name: 'http_status', help: 'Status of a request noted in the line.' },
    { name: 'line', help: 'Fields of a JSON line by line.<name>, where its name is taken.' },
  ],
  validate: (config: FieldsOf<FileConfig>) => faultsOf(config),
  compile: (config: FieldsOf<FileConfig>) => compileLines(config),
  poll: (config: FieldsOf<FileConfig>, cursor, reach) => pollFiles(config, cursor, reach),
  discover: (config, reach) => propose(config, reach),
}

function faultsOf(config: FileConfig): string[] {
  const faults = PATTERNS.flatMap((field) => {
    const fault = config[field] === undefined ? null : patternFault(config[field], '')
    return fault === null ? [] : [`${field}: ${fault}`]
  })
  if (faults.length === 0 && config.label_pattern && groupNames(config.label_pattern).length === 0)
    faults.push('label_pattern must have a named group, such as (?P<order>ORD-[0-9]+)')
  if (dirname(config.path).includes('*'))
    faults.push('path may have * in its last part alone, such as /var/log/app/*.log')
  faults.push(...zoneFaults(config.zone))
  if (resolve(config.path) !== config.path) faults.push('path must have no . or .. in it')
  return faults
}

function compileLines(config: FileConfig): ReturnType<PollConnector['compile']> {
  const { key, label_pattern: pattern, zone } = config
  const local = zone === undefined ? null : compileZone(zone)
  const groups = pattern === undefined ? null : compileGroups(pattern)
  return ({ value }) => {
    const { raw, file, path, at, inode, begun = '' } = { ...NO_ITEM, ...(value as Partial<FileItem>) }
    const line = plainLine(raw)
    const fields = jsonLine(line)
    const time = lineTime(line, fields, local)
    const event: MappedEvent = {
      eventType: 'log',
      text: oneLine(messageOf(fields) ?? line, TEXT_MAX),
      ...(time === undefined ? {} : { eventTime: time }),
      context: {
        ...lineFields(fields, line),
        ...(fields ? { line: fields } : {}),
        ...groups?.(line),
        file,
        path,
        raw,
      },
      stamped: { [ENTITY]: key ?? file },
      entityLabel: ENTITY,
      dedupeKey: `${inode}:${begun}:${at}:${hashOf(raw)}`,
    }
    return [event]
  }
}

/** A sample a person made up to try a label may lack what every line has. */
const NO_ITEM: FileItem = { raw: '', file: '', path: '', at: 0, inode: '' }

/* Which files may be read. */

/**
 * @param names SVC_FILES. @returns the file's real path
 * @throws UpstreamError where the operator has not named a folder above it, links followed
 */
async function allowedPath(path: string, names: readonly string[]): Promise<string> {
  if (names.length === 0)
    throw new UpstreamError(
      `SVC_FILES is not set: the operator names the folders whose files may be read, such as SVC_FILES=${dirname(path)}.`,
    )
  const real = await realpath(path)
  for (const name of names) {
    const folder = await realpath(name).catch(() => null)
    if (folder !== null && (real === folder || real.startsWith(folder.endsWith(sep) ? folder : folder + sep)))
      return real
  }
  throw new UpstreamError(`${path} is not below a folder that SVC_FILES names (${names.join(', ')}).`)
}

const namesOf = ({ env = {} }: Reach): string[] =>
  (env.SVC_FILES ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name.startsWith('/'))

/**
 * Paths of the files that are there now, sorted.
 * @throws UpstreamError where the folder cannot be read, or may not be: no name in it is told then
 */
async function filesOf(path: string, names: readonly string[]): Promise<string[]> {
  const name = basename(path)
  if (!name.includes('*')) return [path]
  const pattern = new RegExp(`^${name.split('*').map(escapeText).join('[^/]*')}$`)
  const folder = dirname(path)
  const entries = await allowedPath(folder, names)
    .then((real) => readdir(real, { withFileTypes: true }))
    .catch((error) => {
      throw faultOf(error, folder)
    })
  return entries
    .filter((entry) => !entry.isDirectory() && pattern.test(entry.name))
    .map((entry) => join(folder, entry.name))
    .sort()
}

const escapeText = (text: string): string => text.replace(/[.+?^${}()|[\]\\]/g, '\\$&')

function faultOf(error: unknown, path: string): UpstreamError {
  if (error instanceof UpstreamError) return error
  const refuse = (why: string) => new UpstreamError(`${path} ${why}`, AGAIN_MS)
  switch ((error as NodeJS.ErrnoException).code) {
    case 'ENOENT':
      return refuse('does not exist.')
    case 'EACCES':
    case 'EPERM':
      return refuse(
        'may not be read by the user that the daemon runs as: give that user the right to read it and to pass its folders.',
      )
    default:
      return refuse(`cannot be read: ${(error as Error).message}`)
  }
}

const isGone = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT'

/* What is new in each file. */

const packedFault = (path: string): UpstreamError =>
  new UpstreamError(`${path} is packed (gzip or the like), and is not read.`, AGAIN_MS)

interface Taking extends Met {
  items: string[]
  left: number
  more: boolean
  notices: string[]
  /** Lines of the file at hand that were looked at for a time, and whether one had one. */
  seen: number
  isTimed: boolean
  /** Paths of the files whose newest lines have none. */
  untimed: string[]
  /** Paths of packed files. */
  packed: string[]
}

async function pollFiles(config: FileConfig, cursor: string | null, reach: Reach): Promise<Polled> {
  const known = cursor === null ? null : (JSON.parse(cursor) as Cursor)
  const names = namesOf(reach)
  const all = await filesOf(config.path, names)
  const paths = await chosenOf(all, known)
  const earlier = Object.values(known ?? {})
  const taking: Taking = {
    ...{ items: [], left: POLL_BYTES, more: false, notices: [] },
    ...{ earlier, places: new Map(earlier.map((place) => [place.inode, place])), reals: new Map() },
    ...{ seen: 0, isTimed: false, untimed: [], packed: [] },
  }
  if (all.length > FILES_MAX)
    taking.notices.push(`${all.length} files have this form; the ${FILES_MAX} written last are read.`)
  const next: Cursor = {}
  const faults: UpstreamError[] = []
  for (const path of paths) {
    const before = known?.[path]
    try {
      const real = await allowedPath(path, names)
      // A file that comes once the source is at work is read from its start.
      const isFresh = before === undefined && known !== null
      const fromStart = isFresh || config.from_start === true
      const place = await readTimed({ config, path, real, before, fromStart }, taking)
      if (place) next[path] = place
    } catch (error) {
      const fault = faultOf(error, path)
      if (before) next[path] = before
      // Between the rename and the new file of a rotation there is none: where it stood is kept.
      const isBetween = known !== null && isGone(error)
      if (!isBetween) faults.push(fault)
      taking.notices.push(fault.message)
    }
    if (taking.left <= 0) taking.more = true
  }
  noteUntimed(taking)
  // Where none can be read the source does no work: that is an error; where some can, a notice says which cannot.
  const isIdle = faults.length + taking.packed.length === paths.length
  const [first] = isIdle ? [...faults, ...taking.packed.map(packedFault)].sort(byMessage) : []
  if (first) {
    const others = paths.length > 1 ? ` Nor can ${paths.length - 1} more of ${config.path}.` : ''
    throw new UpstreamError(`${first.message}${others}`, first.retryAfterMs)
  }
  for (const [path, place] of await placesOfOthers(config.path, config.from_start === true, all, known, next))
    next[path] = place
  return {
    items: taking.items,
    cursor: JSON.stringify(next),
    ...(taking.more ? { more: true } : {}),
    ...(taking.notices.length ? { notice: [...new Set(taking.notices)].join(' ') } : {}),
  }
}

/** It begins with the path. */
const byMessage = (a: Error, b: Error): number => (a.message < b.message ? -1 : 1)

function noteUntimed({ untimed: [first, ...more], notices }: Taking): void {
  if (first === undefined) return
  const files = more.length === 0 ? first : `${first} and ${countWords(more.length, 'other file')}`
  notices.push(
    `The newest lines of ${files} begin with no time that is understood: they have the time of their arrival.`,
  )
}

interface Reading {
  config: FileConfig
  path: string
  real: string
  before: Place | undefined
  fromStart: boolean
}

/** Reads what a file gained, and keeps whether its lines had a time until there are others. */
async function readTimed(reading: Reading, taking: Taking): Promise<Place | null> {
  Object.assign(taking, { seen: 0, isTimed: false })
  const place = await readOn(reading, taking)
  if (!place) return null
  const isUntimed = taking.seen === 0 ? reading.before?.isUntimed : !taking.isTimed
  if (!isUntimed) return place
  taking.untimed.push(reading.path)
  return { ...place, isUntimed }
}

/**
 * Reads what a file gained, and before that the rest of those that had its name.
 * @returns where it stands now; null: it is a copy that is still being written, and is looked at anew
 */
async function readOn(
  { config, path, real, before, fromStart }: Reading,
  taking: Taking,
): Promise<Place | null> {
  const handle = await open(real, READ)
  try {
    const info = await handle.stat({ bigint: true })
    if (!info.isFile()) throw new UpstreamError(`${path} is no file.`)
    const [self, size] = [identityOf(info), Number(info.size)]
    const isOther = before !== undefined && !isOf(before, self)
    taking.reals.set(self.inode, real)
    // What is left of them comes first: the new file waits for the next poll.
    for (let rest: Place | null = isOther && !before.isPacked ? before : null; rest; ) {
      if (!(await readRotated(config, path, real, rest, taking))) return rest
      rest = await rotatedNext(dirname(real), real, rest, taking)
    }
    const own = isOther ? undefined : before
    // One that was renamed goes on where it stood under its old name.
    const renamed = taking.places.get(self.inode)
    const known = own ?? (renamed && isOf(renamed, self) ? renamed : undefined)
    const isSame = known !== undefined && size >= known.at && (await isHeadOf(handle, known))
    const cuts = (known?.cuts ?? 0) + (known && !isSame ? 1 : 0)
    if (known && !isSame) taking.notices.push(`${path} was cut and written anew: it is read from its start.`)
    // One that was empty may be the beginning of a copy, too.
    const copied = !known || (isSame && known.at === 0) ? await copiedUpTo(handle, size, taking) : null
    if (copied === 'unfinished') return null
    const start = known
      ? (((isSame ? known.at : 0) || copied) ?? 0)
      : (copied ?? (fromStart || isOther ? 0 : await lastLineEnd(handle, size)))
    const isPacked = isSame && known.at > 0 ? known.isPacked === true : await hasPackedHead(handle)
    if (isPacked) taking.packed.push(path)
    const isQuiet = known?.size === size
    const span = { config, path, ...self, cuts, size, at: start, isEnded: false, isQuiet }
    const at = isPacked ? size : await readLines(handle, span, taking)
    const place = { ...self, at, size, ...(await marksOf(handle, size, at)) }
    if (cuts > 0) Object.assign(place, { cuts })
    if (isPacked) Object.assign(place, { isPacked })
    taking.places.set(self.inode, place)
    return place
  } finally {
    await handle.close()
  }
}

/** Reads the rest of the file that a rotation renamed or packed. @returns whether all of it was read, or it is gone */
async function readRotated(
  config: FileConfig,
  path: string,
  real: string,
  before: Place,
  taking: Taking,
): Promise<boolean> {
  const folder = dirname(real)
  const name = await nameNow(folder, real, before)
  // It may have been read on by its new name.
  const { at, cuts = 0 } = taking.places.get(before.inode) ?? before
  const rest = name === null ? null : await restNow(join(folder, name), { ...before, at }, taking)
  if (rest === null) {
    taking.notices.push(
      `The rest of ${path} before its rotation was not found; up to its last poll it was read.`,
    )
    return true
  }
  try {
    const { size } = rest
    // Who writes may hold it for a moment longer; what has no line end then is its last line.
    const span = { config, path, ...before, cuts, at, size, isEnded: true, isQuiet: true }
    before.at = await readLines(rest, span, taking)
    before.tail = await rest.tailAt(before.at)
    taking.places.set(before.inode, before)
    return before.at >= size
  } finally {
    await rest.close()
  }
}

const restNow = (path: string, place: Place, { left }: Taking): Promise<Rest | null> =>
  openRest(path, place, Math.max(0, left)).catch((error) => {
    throw faultOf(error, path)
  })

interface Span extends Identity {
  config: FileConfig
  path: string
  cuts: number
  /** Bytes from which on it is read. */
  at: number
  size: number
  /** Nobody writes it any more. */
  isEnded: boolean
  /** It has not grown since the last poll. */
  isQuiet: boolean
}

/** Takes whole lines. @returns up to which byte */
async function readLines(handle: Pick<Rest, 'read'>, span: Span, taking: Taking): Promise<number> {
  const { config, path, inode, born, cuts, size, isEnded, isQuiet } = span
  const isWanted = compileWanted(config)
  const continues = config.continues === undefined ? null : compileSearch(config.continues)
  const want = Math.min(size - span.at, Math.max(0, taking.left))
  if (want <= 0) {
    if (span.at < size) taking.more = true
    return span.at
  }
  const bytes = Buffer.alloc(want)
  const { bytesRead } = await handle.read(bytes, 0, want, span.at)
  const isWhole = span.at + bytesRead >= size
  const begun = [born ?? [], cuts || []].flat().join(':')
  let held: { at: number; lines: string[]; isCut: boolean } | null = null
  let done = 0
  const give = () => {
    if (!held) return
    const raw = held.lines.join('\n')
    const item: FileItem = {
      raw,
      file: basename(path),
      path,
      at: held.at,
      inode,
      ...(begun === '' ? {} : { begun }),
      ...(held.isCut ? { cut: true } : {}),
    }
    if (raw.trim() !== '' && isWanted(raw)) {
      taking.items.push(JSON.stringify(item))
      noteTime(raw, taking)
    }
    held = null
  }
  for (let start = 0; start < bytesRead; ) {
    const end = bytes.indexOf(10, start)
    // A line that is not whole yet waits, but for one that fills all that is read at once.
    const isLast = end === -1 || end >= bytesRead
    if (isLast && !(isEnded && isWhole) && bytesRead - start < POLL_BYTES) break
    const stop = isLast ? bytesRead : end
    const text = bytes.toString('utf8', start, Math.min(stop, start + LINE_MAX)).replace(/\r$/, '')
    const isCut = stop - start > LINE_MAX
    const isMore = held !== null && continues?.(text) && held.lines.length < CONTINUED_MAX
    // What is put together is at most as long as a line is.
    if (held && isMore && span.at + stop - held.at <= LINE_MAX) held.lines.push(text)
    else {
      give()
      done = start
      held = { at: span.at + start, lines: [text], isCut }
    }
    start = isLast ? bytesRead : end + 1
    // Where lines may continue, the last one waits for what follows it until the file is quiet.
    if (!continues || (start >= bytesRead && isWhole && isQuiet)) {
      give()
      done = start
    }
  }
  taking.left -= done
  if (!isWhole) taking.more = true
  return span.at + done
}

function noteTime(raw: string, taking: Taking): void {
  if (taking.isTimed || taking.seen >= UNTIMED_LINES) return
  const line = plainLine(raw)
  taking.seen++
  taking.isTimed = lineTime(line, jsonLine(line), null) !== undefined
}

/* What a source could be: the files below the folders, or fields of the lines of one. */

async function propose(config: Record<string, unknown>, reach: Reach): Promise<Record<string, unknown>> {
  const names = namesOf(reach)
  if (typeof config.path !== 'string') {
    if (names.length === 0) await allowedPath('/var/log/app.log', names)
    const faults: string[] = []
    const found = await Promise.all(
      names.map((name) =>
        filesOf(join(name, '*'), names).catch((error) => {
          faults.push(faultOf(error, name).message)
          return []
        }),
      ),
    )
    const files = found.flat().slice(0, FILES_MAX)
    if (faults.length === names.length) throw new UpstreamError(faults.join(' '))
    const count = `${countWords(files.length, 'file')}; name one, or a pattern, and discover again`
    return {
      summary: [count, ...faults].join('. ').replace(/\.$/, ''),
      files,
      proposed_config: { ...config },
    }
  }
  const [path] = await filesOf(config.path, names)
  if (path === undefined) throw new UpstreamError(`No file has the form ${config.path}.`)
  try {
    const handle = await open(await allowedPath(path, names), constants.O_RDONLY | constants.O_NONBLOCK)
    try {
      const { size } = await handle.stat()
      const bytes = Buffer.alloc(Math.min(size, TAIL_BYTES))
      await handle.read(bytes, 0, bytes.length, size - bytes.length)
      const lines = bytes
        .toString('utf8')
        .split('\n')
        .filter(Boolean)
        .slice(size > TAIL_BYTES ? 1 : 0)
      const shaped = lines.map(plainLine).map((line) => lineFields(jsonLine(line), line))
      const counts = new Map<string, number>()
      for (const fields of shaped)
        for (const name of Object.keys(fields)) counts.set(name, (counts.get(name) ?? 0) + 1)
      const fields = [...counts].map(([name, count]) => ({
        name,
        coverage: count / Math.max(1, lines.length),
      }))
      const hasTrace = lines.some((line) => /^\s+at\s/.test(line))
      return {
        summary: `${countWords(lines.length, 'line')} at the end of ${basename(path)}`,
        fields: fields.sort((a, b) => b.coverage - a.coverage).slice(0, 50),
        sample: lines.slice(-3).map((line) => line.slice(0, TEXT_MAX)),
        proposed_config: { ...config, ...(hasTrace && !config.continues ? { continues: '^\\s+at\\s' } : {}) },
      }
    } finally {
      await handle.close()
    }
  } catch (error) {
    throw faultOf(error, path)
  }
}
