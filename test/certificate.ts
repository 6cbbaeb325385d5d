/** Certificates for tests, made here: a fresh machine has Node and npm, and need not have openssl. */
import { generateKeyPairSync, randomBytes, sign } from 'node:crypto'

export interface Certificate {
  /** PEM. */
  cert: string
  key: string
}

/* DER (ITU-T X.690): a tag, a length, the content. */
const der = (tag: number, ...parts: readonly Uint8Array[]): Buffer => {
  const content = Buffer.concat(parts)
  const { length } = content
  const head = length < 128 ? [tag, length] : [tag, 0x82, length >> 8, length & 255]
  return Buffer.concat([Buffer.from(head), content])
}
const sequence = (...parts: readonly Uint8Array[]): Buffer => der(0x30, ...parts)
const oid = (hex: string): Buffer => der(0x06, Buffer.from(hex, 'hex'))
const time = (ms: number): Buffer =>
  der(0x17, Buffer.from(`${new Date(ms).toISOString().slice(2, 19).replace(/[-:T]/g, '')}Z`))

const SHA256_WITH_RSA = sequence(oid('2a864886f70d01010b'), der(0x05))
const COMMON_NAME = oid('550403')
const ALTERNATIVE_NAMES = oid('551d11')
const CONSTRAINTS = oid('551d13')
const DAY_MS = 86_400_000

/**
 * A certificate that is its own authority (RFC 5280), good from yesterday for ten years.
 * @param name its common name. @param address IPv4 address of the server that shows it
 */
export function makeCertificate(name: string, address = '127.0.0.1'): Certificate {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 })
  const named = sequence(der(0x31, sequence(COMMON_NAME, der(0x0c, Buffer.from(name)))))
  const now = Date.now()
  const addresses = sequence(der(0x87, Uint8Array.from(address.split('.'), Number)))
  const authority = sequence(der(0x01, Buffer.from([0xff])))
  const extensions = sequence(
    sequence(CONSTRAINTS, der(0x01, Buffer.from([0xff])), der(0x04, authority)),
    sequence(ALTERNATIVE_NAMES, der(0x04, addresses)),
  )
  const body = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    ...[SHA256_WITH_RSA, named, sequence(time(now - DAY_MS), time(now + 3_650 * DAY_MS)), named],
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, extensions),
  )
  const signature = sign('sha256', body, privateKey)
  const whole = sequence(body, SHA256_WITH_RSA, der(0x03, Buffer.from([0]), signature))
  const lines = whole.toString('base64').replace(/.{64}(?=.)/g, '$&\n')
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  }
}
