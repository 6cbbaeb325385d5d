/** Bombs: zeros, many thousand times smaller when they are compressed. */
import { constants, crc32, deflateRawSync } from 'node:zlib'

const MIB = 1024 * 1024

/**
 * Zeros as one stream of gzip, as it would be written of all of them (RFC 1952), in no time and without holding them:
 * a mebibyte is compressed up to a byte's end, which says nothing of what is before, and stands there again and again.
 * @param mebibytes below 4,096, which is what the length in its last bytes can say
 */
export function gzipOfZeros(mebibytes: number): Buffer {
  const zeros = Buffer.alloc(MIB)
  const one = deflateRawSync(zeros, { finishFlush: constants.Z_FULL_FLUSH })
  const tail = Buffer.alloc(8)
  let crc = 0
  for (let n = 0; n < mebibytes; n++) crc = crc32(zeros, crc)
  tail.writeUInt32LE(crc)
  tail.writeUInt32LE(mebibytes * MIB, 4)
  const head = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff])
  return Buffer.concat([head, ...Array<Buffer>(mebibytes).fill(one), deflateRawSync(''), tail])
}
