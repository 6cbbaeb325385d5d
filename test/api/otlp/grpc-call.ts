/** gRPC without a client, which would choose headers and frames by itself. */
import { type ClientHttp2Stream, connect } from 'node:http2'

const LOGS = '/opentelemetry.proto.collector.logs.v1.LogsService/Export'

interface Outcome {
  status: number
  message: string
  details: string
}

/** One gRPC call by hand, with any headers. @returns its outcome. */
export function callGrpc(
  port: number,
  headers: Record<string, string> = {},
  body: Uint8Array = new Uint8Array(5),
): Promise<Outcome> {
  const { request, outcome } = beginGrpc(port, headers)
  request.end(body)
  return outcome
}

/** One that sends this and nothing further, until it is closed. */
export function openGrpc(port: number, begin: Uint8Array): { outcome: Promise<Outcome>; close(): void } {
  const { request, outcome } = beginGrpc(port, {})
  request.write(begin)
  return { outcome, close: () => request.close() }
}

function beginGrpc(
  port: number,
  headers: Record<string, string>,
): { request: ClientHttp2Stream; outcome: Promise<Outcome> } {
  // In megabytes, for what waits to be sent: without it Node resets the answer to a large message.
  const session = connect(`http://127.0.0.1:${port}`, { maxSessionMemory: 1_000 })
  const request = session.request({
    ':method': 'POST',
    ':path': LOGS,
    'content-type': 'application/grpc',
    te: 'trailers',
    ...headers,
  })
  const outcome = new Promise<Outcome>((resolve, reject) => {
    const settle = (found: Record<string, unknown>): void => {
      if (found['grpc-status'] === undefined) return
      resolve({
        status: Number(found['grpc-status']),
        message: decodeURIComponent(String(found['grpc-message'] ?? '')),
        details: Buffer.from(String(found['grpc-status-details-bin'] ?? ''), 'base64').toString('latin1'),
      })
    }
    request.on('response', settle).on('trailers', settle).on('error', reject)
    request.on('close', () => session.close()).resume()
  })
  return { request, outcome }
}

/** A message as gRPC frames it. */
export function framed(message: Uint8Array, isCompressed = false): Uint8Array {
  const prefix = Buffer.alloc(5)
  prefix[0] = isCompressed ? 1 : 0
  prefix.writeUInt32BE(message.length, 1)
  return Buffer.concat([prefix, message])
}
