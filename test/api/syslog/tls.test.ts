/** Syslog over TLS (RFC 5425), with certificates made for the test. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect as connectPlain, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ConnectionOptions, connect } from 'node:tls'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { parseNetworks } from '../../../api/config-syslog.ts'
import { makeCertificate } from '../../certificate.ts'
import { eventually } from '../../eventually.ts'
import { openReceiver } from '../otlp/receiver.ts'

const folder = mkdtempSync(join(tmpdir(), 'svc-syslog-tls-'))
const file = (name: string): string => join(folder, name)
const text = (name: string): string => readFileSync(file(name), 'utf8')

/** A certificate that is its own authority, in two files. */
function make(name: string): void {
  const { cert, key } = makeCertificate(name)
  writeFileSync(file(`${name}.pem`), cert)
  writeFileSync(file(`${name}.key`), key)
}

beforeAll(() => {
  make('daemon')
  make('sender')
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

async function open({ ca = null, allow = '127.0.0.0/8' }: { ca?: string | null; allow?: string } = {}) {
  const receiver = await openReceiver()
  onTestFinished(() => receiver.close())
  const syslog = await receiver.app.svc.startSyslog({
    host: '127.0.0.1',
    port: null,
    tls: { port: 0, cert: file('daemon.pem'), key: file('daemon.key'), ca },
    isAllowed: parseNetworks(allow, 'allow'),
  })
  return { ...receiver, syslog, port: syslog.tlsPort! }
}

/** However it ends. */
const closed = (socket: Socket) => new Promise<void>((resolve) => socket.once('close', () => resolve()))

/** @returns the code of what went wrong; null: nothing */
async function send(
  port: number,
  pieces: readonly string[],
  more: ConnectionOptions = {},
): Promise<string | null> {
  const socket = connect({ port, host: '127.0.0.1', ca: text('daemon.pem'), ...more })
  let fault: string | null = null
  socket.on('error', (error: NodeJS.ErrnoException) => {
    fault = error.code ?? error.message
  })
  socket.once('secureConnect', () => {
    for (const piece of pieces) socket.write(piece)
    socket.end()
  })
  socket.resume()
  await closed(socket)
  return fault
}

const MESSAGE = '<34>1 2003-10-11T22:14:15.003Z mymachine.example.com su - ID47 - one\ntwo'

describe('syslog over TLS', () => {
  it('is stored as over TCP, each message with its length in front, and counted by itself', async () => {
    const { port, syslog, read, url } = await open()
    expect(syslog).toMatchObject({ port: null, problem: null })
    const frame = `${MESSAGE.length} ${MESSAGE}`
    expect(await send(port, [frame.slice(0, 20), frame.slice(20) + frame])).toBeNull()
    await eventually(async () => expect(await read({ app: 'su' })).toHaveLength(2))
    expect((await read({ app: 'su' }))[0]!.raw).toMatchObject({
      form: 'rfc5424',
      message: 'one\ntwo',
      from: '127.0.0.1',
    })
    expect(syslog.counts.received).toEqual({ tcp: 0, udp: 0, tls: 2 })
    expect(await (await fetch(`${url}/metrics`)).text()).toContain(
      'svc_syslog_messages_total{transport="tls"} 2\n',
    )
  })

  it('takes nothing in the clear, and counts what did not come to TLS', async () => {
    const { port, syslog } = await open()
    const socket = connectPlain(port, '127.0.0.1')
    socket.on('error', () => {})
    socket.write(`${MESSAGE.length} ${MESSAGE}`)
    await closed(socket)
    await eventually(() => expect(syslog.counts.dropped.tls).toBe(1))
    expect(syslog.counts.received).toEqual({ tcp: 0, udp: 0, tls: 0 })
  })

  it('takes only senders with a certificate of the authorities, where there are such', async () => {
    const { port, syslog, read } = await open({ ca: file('sender.pem') })
    const frame = [`${MESSAGE.length} ${MESSAGE}`]
    await send(port, frame)
    await eventually(() => expect(syslog.counts.dropped.tls).toBe(1))
    await send(port, frame, { cert: text('daemon.pem'), key: text('daemon.key') })
    await eventually(() => expect(syslog.counts.dropped.tls).toBe(2))
    expect(syslog.counts.received.tls).toBe(0)
    expect(await send(port, frame, { cert: text('sender.pem'), key: text('sender.key') })).toBeNull()
    await eventually(async () => expect(await read({ app: 'su' })).toHaveLength(1))
  })

  it('shows an address that may not send no certificate', async () => {
    const { port, syslog } = await open({ allow: '192.0.2.0/24' })
    await send(port, [MESSAGE])
    await eventually(() => expect(syslog.counts.dropped.address).toBe(1))
    expect([syslog.counts.received.tls, syslog.counts.dropped.tls]).toEqual([0, 0])
  })

  it('that cannot begin is told by its variable, and leaves the rest of syslog as it is', async () => {
    const receiver = await openReceiver()
    onTestFinished(() => receiver.close())
    writeFileSync(file('none.pem'), 'none')
    const start = (cert: string) =>
      receiver.app.svc.startSyslog({
        host: '127.0.0.1',
        port: 0,
        tls: { port: 0, cert, key: file('daemon.key'), ca: null },
        isAllowed: () => true,
      })
    expect(await start(file('missing.pem'))).toMatchObject({
      port: expect.any(Number),
      tlsPort: null,
      problem: 'the file of SVC_SYSLOG_TLS_CERT cannot be read (ENOENT)',
    })
    expect((await start(file('none.pem'))).problem).toMatch(
      /^SVC_SYSLOG_TLS_CERT and SVC_SYSLOG_TLS_KEY are no certificate/,
    )
  })
})

describe('the files of syslog over TLS', () => {
  const MINUTE_MS = 60_000

  /** A daemon with files of its own, whose minutes pass when they are told to. */
  async function renewing() {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    onTestFinished(() => void vi.useRealTimers())
    make('renewed')
    const receiver = await openReceiver()
    onTestFinished(() => receiver.close())
    const syslog = await receiver.app.svc.startSyslog({
      host: '127.0.0.1',
      port: null,
      tls: { port: 0, cert: file('renewed.pem'), key: file('renewed.key'), ca: null },
      isAllowed: parseNetworks('127.0.0.0/8', 'allow'),
    })
    const health = async () => (await receiver.call<{ detail?: string }>('GET', '/health')).detail ?? ''
    return { ...receiver, syslog, port: syslog.tlsPort!, health }
  }
  const frame = [`${MESSAGE.length} ${MESSAGE}`]
  const trusts = (port: number, ca: string) => send(port, frame, { ca })

  it('are read again when they change, and a connection that is open stays', async () => {
    const { port, read } = await renewing()
    const old = text('renewed.pem')
    const open = connect({ port, host: '127.0.0.1', ca: old })
    onTestFinished(() => void open.destroy())
    await new Promise((resolve) => open.once('secureConnect', resolve))
    make('renewed')
    const renewed = text('renewed.pem')
    // Until the next look the one before is shown.
    expect(await trusts(port, old)).toBeNull()
    vi.advanceTimersByTime(MINUTE_MS)
    await eventually(async () => expect(await trusts(port, renewed)).toBeNull())
    expect(await trusts(port, old)).not.toBeNull()
    open.end(`${MESSAGE.length} ${MESSAGE}`)
    await eventually(async () => expect((await read({ app: 'su' })).length).toBeGreaterThanOrEqual(3))
  })

  it('that are none keep the one before, which /health tells, until they are whole', async () => {
    const { port, syslog, health } = await renewing()
    const old = text('renewed.pem')
    expect(syslog.notice()).toBeNull()
    // The certificate is written, its key not yet.
    const { cert, key } = makeCertificate('renewed')
    writeFileSync(file('renewed.pem'), cert)
    vi.advanceTimersByTime(MINUTE_MS)
    await eventually(() =>
      expect(syslog.notice()).toMatch(
        /^syslog over TLS keeps its certificate: SVC_SYSLOG_TLS_CERT and SVC_SYSLOG_TLS_KEY are no certificate with its key, as PEM \(ERR_OSSL_/,
      ),
    )
    expect(await health()).toContain('syslog over TLS keeps its certificate')
    expect(await trusts(port, old)).toBeNull()
    rmSync(file('renewed.pem'))
    vi.advanceTimersByTime(MINUTE_MS)
    await eventually(() =>
      expect(syslog.notice()).toBe(
        'syslog over TLS keeps its certificate: the file of SVC_SYSLOG_TLS_CERT cannot be read (ENOENT)',
      ),
    )
    expect(await trusts(port, old)).toBeNull()
    writeFileSync(file('renewed.pem'), cert)
    writeFileSync(file('renewed.key'), key)
    vi.advanceTimersByTime(MINUTE_MS)
    await eventually(() => expect(syslog.notice()).toBeNull())
    expect(await trusts(port, cert)).toBeNull()
    expect(await health()).not.toContain('TLS')
  })
})
