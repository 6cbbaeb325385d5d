/** Syslog by real senders, over TCP and UDP, into a real engine. */
import { execFile } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { promisify } from 'node:util'
import { deflateSync } from 'node:zlib'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { parseNetworks } from '../../../api/config-syslog.ts'
import { SvcError } from '../../../engine/index.ts'
import { eventually } from '../../eventually.ts'
import { openReceiver } from '../otlp/receiver.ts'

const LOGGER = '/usr/bin/logger'
const run = promisify(execFile)
const toClose: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of toClose.splice(0)) await close()
})

interface Stored {
  rows: { text: string; source: string }[]
}

async function open(allow = '127.0.0.0/8') {
  const receiver = await openReceiver()
  let isOpen = true
  const close = async (): Promise<void> => {
    if (isOpen) await receiver.close()
    isOpen = false
  }
  toClose.push(close)
  const isAllowed = parseNetworks(allow, 'allow')
  const syslog = await receiver.app.svc.startSyslog({ host: '127.0.0.1', port: 0, tls: null, isAllowed })
  const stored = async () => (await receiver.engine.read({ selector: {}, window: '1d' })) as unknown as Stored
  const texts = async () => (await stored()).rows.map(({ text }) => text).sort()
  return { ...receiver, syslog, port: syslog.port!, stored, texts, close }
}

async function send(port: number, ...pieces: (string | Buffer)[]): Promise<void> {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  for (const piece of pieces) socket.write(piece)
  socket.end()
  socket.resume()
  await once(socket, 'close')
}

async function sendDatagram(port: number, text: string): Promise<void> {
  const socket = createSocket('udp4')
  await new Promise((resolve) => socket.send(text, port, '127.0.0.1', resolve))
  socket.close()
}

describe('syslog', () => {
  it('over TCP, by length and by line, makes its source and is stored with its payload', async () => {
    const { port, texts, sources, read } = await open()
    const first = '<34>1 2003-10-11T22:14:15.003Z mymachine.example.com su - ID47 - one\ntwo'
    await send(port, `${first.length} ${first}<13>Use `, 'the BFG!\nno priority')
    await eventually(async () => expect(await texts()).toHaveLength(3))
    expect(await texts()).toEqual(['Use the BFG!', 'no priority', 'su: one two'])
    expect(await sources()).toMatchObject([{ name: 'syslog', connector: 'syslog' }])
    const [row] = await read({ host: 'mymachine.example.com' })
    expect(row!.raw).toMatchObject({
      ...{ form: 'rfc5424', raw: first, facility: 'auth', severity: 'crit', app: 'su', msgid: 'ID47' },
      ...{ time: '2003-10-11T22:14:15.003Z', message: 'one\ntwo', from: '127.0.0.1', data: {} },
    })
    expect(row!.labels).toMatchObject({ level: 'FATAL', severity: 'crit', facility: 'auth', app: 'su' })
  })

  it('over UDP is a message in each datagram; both are counted in /metrics', async () => {
    const { port, texts, url, syslog } = await open()
    await send(port, deflateSync('<13>a connection that is packed as a whole'))
    await eventually(() => expect(syslog.counts.dropped.packed).toBe(1))
    await sendDatagram(port, '<14>1 - web-1 app - - - by datagram\n')
    await send(port, '<13>by stream\n')
    await eventually(async () => expect(await texts()).toEqual(['app: by datagram', 'by stream']))
    const metrics = await (await fetch(`${url}/metrics`)).text()
    expect(metrics).toContain('svc_syslog_messages_total{transport="udp"} 1\n')
    expect(metrics).toContain('svc_syslog_messages_total{transport="tcp"} 1\n')
    expect(metrics).toContain('svc_syslog_dropped_total{reason="full"} 0\n')
  })

  it.skipIf(!existsSync(LOGGER)).each([
    ['--udp', '--rfc5424'],
    ['--tcp', '--rfc5424'],
    ['--tcp', '--rfc5424', '--octet-count'],
    ['--udp', '--rfc3164'],
    ['--tcp', '--rfc3164'],
  ])('of logger %s %s %s is stored at its own time', async (...flags) => {
    const { port, read } = await open()
    const target = [
      '--server',
      '127.0.0.1',
      '--port',
      String(port),
      '--tag',
      'backup',
      '--priority',
      'local3.err',
    ]
    await run(LOGGER, [...target, ...flags, 'the disk is full'], { env: { TZ: 'UTC' } })
    await eventually(async () => expect(await read({ app: 'backup' })).toHaveLength(1))
    const [row] = await read({ app: 'backup' })
    expect(row).toMatchObject({
      text: 'backup: the disk is full',
      labels: { facility: 'local3', severity: 'err', level: 'ERROR' },
      raw: { form: flags.includes('--rfc5424') ? 'rfc5424' : 'rfc3164' },
    })
    expect(row!.raw.host).toEqual(expect.any(String))
    expect(Math.abs(Date.parse(row!.event_time) - Date.now())).toBeLessThan(60_000)
  })

  it('of an address that may not send is refused and counted', async () => {
    const { port, syslog, sources } = await open('192.0.2.0/24')
    await send(port, '<13>no\n').catch(() => {})
    await sendDatagram(port, '<13>no')
    await eventually(() => expect(syslog.counts.dropped.address).toBe(2))
    expect(syslog.counts.received).toEqual({ tcp: 0, udp: 0, tls: 0 })
    expect(await sources()).toEqual([])
  })

  it('waits over TCP and is dropped over UDP while the store takes nothing; then all of TCP is stored', async () => {
    const { port, syslog, engine, stored, url, read } = await open()
    const ingest = engine.ingest.bind(engine)
    let isFull = true
    vi.spyOn(engine, 'ingest').mockImplementation((post) =>
      isFull ? Promise.reject(new SvcError('storage_full', 'the store is full')) : ingest(post),
    )
    const count = 4_000
    const line = (i: number) => `<13>1 - h a - - - ${i} ${'x'.repeat(4_000)}\n`
    const sent = send(port, ...Array.from({ length: count }, (_, i) => line(i)))
    await eventually(async () => {
      await sendDatagram(port, '<13>too many')
      expect(syslog.counts.dropped.full).toBeGreaterThan(0)
    })
    // Until nothing more is read while datagrams still are.
    for (let same = 0, before = -1; same < 20; same = before === syslog.counts.received.tcp ? same + 1 : 0) {
      before = syslog.counts.received.tcp
      const { full } = syslog.counts.dropped
      await sendDatagram(port, '<13>too many')
      await eventually(() => expect(syslog.counts.dropped.full).toBeGreaterThan(full))
    }
    expect(syslog.counts.received.tcp).toBeLessThan(count / 2)
    const health = (await (await fetch(`${url}/health`)).json()) as { status: string; detail: string }
    expect(health).toMatchObject({
      status: 'degraded',
      detail: expect.stringContaining('syslog messages were dropped'),
    })
    isFull = false
    await sent
    await eventually(async () =>
      expect((await engine.status()).eventsStored).toBe(
        // And one that says what is missing.
        count + syslog.counts.received.udp - syslog.counts.dropped.full + 1,
      ),
    )
    expect(syslog.counts).toMatchObject({ received: { tcp: count }, dropped: { refused: 0 } })
    const [told] = await read({ app: 'svc' })
    expect(told).toMatchObject({
      text: expect.stringMatching(
        new RegExp(`^svc: ${syslog.counts.dropped.full} messages over UDP from .* were dropped`),
      ),
      labels: { severity: 'warning', facility: 'syslog' },
    })
    const { rows } = await stored()
    // In the order they were sent.
    const numbers = rows
      .filter(({ text }) => text.startsWith('a: '))
      .map(({ text }) => Number(text.split(' ')[1]))
    expect(numbers.length).toBeGreaterThan(0)
    expect(numbers).toEqual(numbers.map((_, i) => numbers[0]! + i))
  })

  it('that was read is stored before the daemon ends, also the message under way', async () => {
    const { port, syslog, engine, app, texts } = await open()
    toClose.length = 0
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => {})
    socket.write('<13>one\n<13>two\n<13>half')
    await eventually(() => expect(syslog.counts.received.tcp).toBe(2))
    await app.close()
    expect(await texts()).toEqual(['half', 'one', 'two'])
    await engine.close()
  })

  it('to paused sources is counted as refused; the first active source takes it', async () => {
    const { port, syslog, source, call, stored } = await open()
    await source('first', 'syslog')
    await source('second', 'syslog', { zone: 'Europe/Berlin' })
    await call('POST', '/api/sources/first/pause')
    await send(port, '<13>a\n')
    await eventually(async () =>
      expect((await stored()).rows).toMatchObject([{ source: 'second', text: 'a' }]),
    )
    await call('POST', '/api/sources/second/pause')
    await send(port, '<13>b\n')
    await eventually(() => expect(syslog.counts.dropped.refused).toBe(1))
    expect(syslog.notice()).toContain('every source of connector syslog is paused')
  })

  it('makes its source anew where it was deleted', async () => {
    const { port, call, stored, sources, texts } = await open()
    await send(port, '<13>a\n')
    await eventually(async () => expect(await texts()).toEqual(['a']))
    await call('DELETE', '/api/sources/syslog?cascade=true&purge_events=true')
    expect(await sources()).toEqual([])
    await send(port, '<13>b\n')
    await eventually(async () =>
      expect((await stored()).rows).toMatchObject([{ source: 'syslog', text: 'b' }]),
    )
  })

  it('goes into the store in batches of 1,000 messages at most', async () => {
    const { port, engine } = await open()
    const ingest = engine.ingest.bind(engine)
    const sizes: number[] = []
    vi.spyOn(engine, 'ingest').mockImplementation((post) => {
      sizes.push(JSON.parse(String(post.body)).length)
      return ingest(post)
    })
    await send(port, Buffer.from('<13>1 - h a - - - short\n'.repeat(5_000)))
    await eventually(async () => expect((await engine.status()).eventsStored).toBe(5_000))
    expect(Math.max(...sizes)).toBeLessThanOrEqual(1_000)
    expect(sizes.length).toBeLessThan(25)
  })

  it('does not keep the daemon from ending where the store takes nothing: what is lost is counted', async () => {
    const { port, syslog, engine, app } = await open()
    toClose.length = 0
    vi.spyOn(engine, 'ingest').mockRejectedValue(new SvcError('storage_full', 'the store is full'))
    await send(port, '<13>a\n<13>b\n')
    await eventually(() => expect(syslog.counts.received.tcp).toBe(2))
    await app.close()
    expect(syslog.counts.dropped.refused).toBe(2)
    await engine.close()
  })

  it('on a port that is in use is off, and says why', async () => {
    const taken = createServer().listen(0, '127.0.0.1')
    await once(taken, 'listening')
    const { port } = taken.address() as { port: number }
    const { app } = await open()
    const state = await app.svc.startSyslog({ host: '127.0.0.1', port, tls: null, isAllowed: () => true })
    expect(state).toMatchObject({
      port: null,
      problem: `port ${port} on 127.0.0.1 is in use; set SVC_SYSLOG_PORT to a free port, or to off`,
    })
    taken.close()
  })
})
