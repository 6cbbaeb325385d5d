/**
 * A small server that speaks an upstream's wire format where the real program cannot say what a test
 * needs: outages, refusals, odd answers. It is no Prometheus and no Loki.
 */
import type http from 'node:http'
import { onTestFinished } from 'vitest'
import { type Received, type Receiver, startReceiver } from '../../net/egress/receiver.ts'

export interface Said {
  status?: number
  headers?: Record<string, string>
  /** Sent as JSON; text as it is. */
  body: unknown
  /** The answer goes on behind the body, which is sent as it is, until this ends it. */
  goesOn?: (response: http.ServerResponse) => void
}

export interface UpstreamServer extends Receiver {
  /** What to answer from now on. */
  answer: (received: Received) => Said
}

/** Ends with its test. */
export async function upstreamServer(answer: (received: Received) => Said): Promise<UpstreamServer> {
  const started = await startReceiver((received, response: http.ServerResponse) => {
    const { status = 200, headers = {}, body, goesOn } = server.answer(received)
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    const type = typeof body === 'string' ? 'text/html' : 'application/json'
    response.writeHead(status, { 'content-type': type, ...headers })
    if (!goesOn) return void response.end(text)
    response.write(text)
    goesOn(response)
  })
  onTestFinished(() => started.close())
  const server: UpstreamServer = Object.assign(started, { answer })
  return server
}

/** Prometheus's success envelope. */
export const success = (data: unknown, more = {}): Said => ({ body: { status: 'success', data, ...more } })

/** Prometheus's error envelope. */
export const failure = (status: number, errorType: string, error: string, headers = {}): Said => ({
  status,
  headers,
  body: { status: 'error', errorType, error },
})

/** An instant vector: values by series. */
export const vector = (...series: [Record<string, string>, string][]): Said =>
  success({
    resultType: 'vector',
    result: series.map(([metric, value]) => ({ metric, value: [1_700_000_000.5, value] })),
  })
