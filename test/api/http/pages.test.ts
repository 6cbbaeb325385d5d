/** The files of the console and the browsable page of the API. */
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openDoor, ROOT } from './door.ts'

const folder = mkdtempSync(join(tmpdir(), 'svc-console-'))
let door: Awaited<ReturnType<typeof openDoor>>

beforeAll(async () => {
  mkdirSync(join(folder, 'assets', 'deeper'), { recursive: true })
  writeFileSync(join(folder, 'index.html'), '<!doctype html><title>svc console</title>')
  writeFileSync(join(folder, 'favicon.svg'), '<svg xmlns="http://www.w3.org/2000/svg"/>')
  writeFileSync(join(folder, 'assets', 'main-1a2b.js'), 'export {}')
  writeFileSync(join(folder, 'assets', 'deeper', 'no.js'), 'export {}')
  writeFileSync(join(folder, 'assets', 'packed-3c4d.js'), 'export const plain = 1')
  writeFileSync(join(folder, 'assets', 'packed-3c4d.js.gz'), gzipSync('export const gz = 1'))
  writeFileSync(join(folder, 'assets', 'packed-3c4d.js.br'), brotliCompressSync('export const br = 1'))
  door = await openDoor({ consoleDir: folder })
})
afterAll(async () => {
  await door.close()
  rmSync(folder, { recursive: true })
})
const get = (path: string, headers: Record<string, string> = {}) => door.call('GET', path, undefined, headers)

describe('the console', () => {
  it('is one page for the addresses of a browser, which is asked for anew each time', async () => {
    for (const path of ['/', '/index.html', '/explore', '/projects/uc_1/runs']) {
      const answer = await get(path, { accept: 'text/html' })
      expect([path, answer.status, answer.headers['cache-control']]).toEqual([path, 200, 'no-store'])
      expect(answer.headers['content-type']).toMatch(/^text\/html/)
      expect(answer.text).toContain('svc console')
    }
  })

  it('may run the script that the build put into its page, and no other', async () => {
    const script = 'window.first = 1'
    const other = mkdtempSync(join(tmpdir(), 'svc-console-'))
    writeFileSync(join(other, 'index.html'), `<!doctype html><title>svc</title><script>${script}</script>`)
    const scripted = await openDoor({ consoleDir: other })
    const policy = async (path: string, accept = 'text/html') =>
      String((await scripted.call('GET', path, undefined, { accept })).headers['content-security-policy'])
    const hash = createHash('sha256').update(script).digest('base64')
    for (const path of ['/', '/index.html', '/explore'])
      expect(await policy(path)).toContain(`script-src 'self' 'sha256-${hash}';`)
    expect(await policy('/health', 'application/json')).toContain("script-src 'self';")
    expect(await policy('/')).not.toMatch(/script-src[^;]*unsafe/)
    // A build beside the daemon puts another page in its place.
    mkdirSync(join(other, 'assets'))
    writeFileSync(join(other, 'assets', 'next-5e6f.js'), 'export {}')
    writeFileSync(
      join(other, 'index.html'),
      '<!doctype html><title>svc</title><script>window.next = 2</script>',
    )
    // The time of a file may be as coarse as a tick of the clock.
    utimesSync(join(other, 'index.html'), 1, 1)
    const next = createHash('sha256').update('window.next = 2').digest('base64')
    expect(await policy('/')).toContain(`script-src 'self' 'sha256-${next}';`)
    const asset = await scripted.call('GET', '/assets/next-5e6f.js')
    expect([asset.status, asset.text]).toEqual([200, 'export {}'])
    await scripted.close()
    rmSync(other, { recursive: true })
  })

  it('keeps assets, whose names have a hash, and answers a second request with 304', async () => {
    const first = await get('/assets/main-1a2b.js')
    expect([first.status, first.text]).toEqual([200, 'export {}'])
    expect(first.headers['content-type']).toMatch(/javascript/)
    expect(first.headers['cache-control']).toBe('public, max-age=31536000, immutable')
    const again = await get('/assets/main-1a2b.js', { 'if-none-match': String(first.headers.etag) })
    expect([again.status, again.text]).toEqual([304, ''])
    const head = await door.call('HEAD', '/assets/main-1a2b.js')
    expect([head.status, head.text, head.headers['content-length']]).toEqual([200, '', '9'])
    expect((await get('/favicon.svg')).headers['content-type']).toMatch(/^image\/svg/)
  })

  it('answers HEAD as it answers GET, without the body, also where an answer is packed', async () => {
    for (const path of ['/api/sources', '/api/openapi.json', '/api/nothing', '/sources']) {
      const [asked, shown] = [await door.call('HEAD', path), await get(path)]
      expect([path, asked.status, asked.text]).toEqual([path, shown.status, ''])
      for (const name of ['content-type', 'content-length', 'content-encoding', 'vary'])
        expect([path, name, asked.headers[name]]).toEqual([path, name, shown.headers[name]])
    }
  })

  it('sends an asset as the build packed it where that is taken, and tells caches so', async () => {
    const path = '/assets/packed-3c4d.js'
    const cases: [accepted: string | undefined, coding: string | undefined][] = [
      ['gzip, deflate, br, zstd', 'br'],
      ['gzip', 'gzip'],
      ['br;q=0, gzip', 'gzip'],
      ['gzip;q=1, br;q=0.1', 'gzip'],
      ['identity, gzip;q=0.5', undefined],
      ['gzip;q=nonsense', undefined],
      ['*', 'br'],
      ['', undefined],
      [undefined, undefined],
    ]
    for (const [accepted, coding] of cases) {
      const answer = await get(path, accepted === undefined ? {} : { 'accept-encoding': accepted })
      expect([accepted, answer.status, answer.headers['content-encoding']]).toEqual([accepted, 200, coding])
      expect(answer.headers['content-type']).toMatch(/^(text|application)\/javascript/)
      expect(answer.headers.vary).toBe('Accept-Encoding')
      expect(answer.headers['cache-control']).toContain('immutable')
      if (coding === undefined) expect(answer.text).toBe('export const plain = 1')
    }
    const packed = await get(path, { 'accept-encoding': 'gzip' })
    const again = await get(path, { 'accept-encoding': 'gzip', 'if-none-match': String(packed.headers.etag) })
    expect([again.status, again.text]).toEqual([304, ''])
    expect((await get('/assets/main-1a2b.js', { 'accept-encoding': 'br' })).headers.vary).toBeUndefined()
    // What is packed has no address of its own.
    for (const end of ['.gz', '.br']) expect((await get(path + end)).status).toBe(404)
  })

  it('gives no file but those it found at its start', async () => {
    for (const path of [
      '/assets/nosuch.js',
      '/assets/deeper/no.js',
      '/assets/deeper%2fno.js',
      '/assets/..%2findex.html',
      '/assets/../package.json',
      '/assets//main-1a2b.js',
      '/assets/main-1a2b.js%00',
      '/package.json',
    ]) {
      const answer = await get(path)
      expect([path, answer.status]).toEqual([path, 404])
      expect(answer.json().detail).toEqual(expect.any(String))
    }
  })
})

describe('the page of the API', () => {
  it('opens with its files, and reads the document of this daemon', async () => {
    const moved = await get('/docs')
    expect([200, 302]).toContain(moved.status)
    const page = await get('/docs/')
    expect(page.headers['content-type']).toMatch(/^text\/html/)
    const files = [...page.text.matchAll(/(?:src|href)="([^"]*)"/g)].map((match) => match[1]!)
    expect(files.length).toBeGreaterThan(3)
    for (const file of files) {
      const { pathname } = new URL(file, 'http://host/docs/')
      expect([pathname, (await get(pathname)).status]).toEqual([pathname, 200])
    }
    const starter = await get('/docs/static/swagger-initializer.js')
    expect(starter.text).toContain('json')
    expect((await get('/docs/json')).json()).toEqual((await get('/openapi.json')).json())
    expect((await get('/docs/yaml')).text).toContain('openapi: 3.1.0')
    for (const nothing of ['/docs/nosuch', '/docs/static/nosuch.js', '/docs/..%2f..%2f']) {
      const refused = await get(nothing)
      expect([refused.status, refused.json()]).toEqual([404, { detail: `nothing is at ${nothing}` }])
    }
  })
})

describe('a path of another service', () => {
  it.each([
    ['/loki/api/v1/push', 'behind an ingest URL: /ingest/<ingest_key>/loki/api/v1/push'],
    ['/ingest/loki-0123/api/prom/push', "Loki's push API is taken behind an ingest URL"],
    ['/services/collector/event/1.0', "of Splunk's event collector event and raw are taken"],
    ['/ingest/dd-0123/api/v2/series', "of Datadog's intake logs are taken"],
    ['/api/v2/logs', "of Datadog's intake logs are taken"],
    ['/logs-2026/_bulk', "of Elasticsearch's API new documents alone are taken"],
    ['/api/v1/write', 'the connector prometheus asks for metrics'],
    ['/api/4711/envelope/', 'the preset sentry'],
    ['/api/v2/spans', 'send them by OTLP to /v1/traces'],
    ['/opentelemetry.proto.collector.logs.v1.LogsService/Export', 'OTLP/gRPC has a port of its own, 4317'],
    ['/upload', 'the connector journald reads the folder of systemd-journal-remote'],
  ])('%s says what is taken instead', async (path, hint) => {
    const { status, json } = await door.call('POST', path, {}, door.as(ROOT))
    expect([status, json().detail]).toEqual([404, expect.stringContaining(hint)])
  })
})
