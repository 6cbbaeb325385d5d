/**
 * The write-ahead log as it lies on disk, looked at without SQLite, which takes a damaged log for an
 * empty one and deletes it when it closes the file. The format is https://sqlite.org/fileformat2.html#walformat.
 */
import { closeSync, openSync, readSync } from 'node:fs'

const HEADER_BYTES = 32
const FRAME_HEADER_BYTES = 24
/** Last bit of the magic number: checksums are of big-endian words. */
const MAGIC = 0x377f0682

/**
 * Whether a log is there that SQLite would use: at least one whole commit, or one that was begun
 * anew and has none yet, which it is only once all of the one before is in the data file.
 */
export function hasUsableLog(file: string): boolean {
  let descriptor: number
  try {
    descriptor = openSync(file, 'r')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
    throw error
  }
  try {
    return isUsable(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

function isUsable(descriptor: number): boolean {
  const header = Buffer.alloc(HEADER_BYTES)
  if (readSync(descriptor, header, 0, HEADER_BYTES, 0) < HEADER_BYTES) return false
  const magic = header.readUInt32BE(0)
  if (magic !== MAGIC && magic !== MAGIC + 1) return false
  const isBigEndian = magic === MAGIC + 1
  const sums: [number, number] = [0, 0]
  addChecksum(sums, header.subarray(0, 24), isBigEndian)
  if (sums[0] !== header.readUInt32BE(24) || sums[1] !== header.readUInt32BE(28)) return false
  const frame = Buffer.alloc(FRAME_HEADER_BYTES + header.readUInt32BE(8))
  for (let at = HEADER_BYTES; readSync(descriptor, frame, 0, frame.length, at) === frame.length; ) {
    if (!frame.subarray(8, 16).equals(header.subarray(16, 24))) return isOfTheLogBefore(frame, header)
    addChecksum(sums, frame.subarray(0, 8), isBigEndian)
    addChecksum(sums, frame.subarray(FRAME_HEADER_BYTES), isBigEndian)
    if (sums[0] !== frame.readUInt32BE(16) || sums[1] !== frame.readUInt32BE(20)) return false
    // Size of the data file after the commit; 0 in frames that are not the last of one.
    if (frame.readUInt32BE(4) > 0) return true
    at += frame.length
  }
  return false
}

/** Each time the log begins anew its first salt grows by one; frames of the one before lie behind the new header. */
function isOfTheLogBefore(frame: Buffer, header: Buffer): boolean {
  return (frame.readUInt32BE(8) + 1) >>> 0 === header.readUInt32BE(16)
}

function addChecksum(sums: [number, number], bytes: Buffer, isBigEndian: boolean): void {
  let [first, second] = sums
  for (let at = 0; at < bytes.length; at += 8) {
    const [a, b] = isBigEndian
      ? [bytes.readUInt32BE(at), bytes.readUInt32BE(at + 4)]
      : [bytes.readUInt32LE(at), bytes.readUInt32LE(at + 4)]
    first = (first + a + second) >>> 0
    second = (second + b + first) >>> 0
  }
  sums[0] = first
  sums[1] = second
}
