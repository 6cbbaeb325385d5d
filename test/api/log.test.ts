import { EventEmitter } from 'node:events'
import type { Server } from 'node:http'
import { describe, expect, it } from 'vitest'
import { createLog, logRequests, scrubUrl } from '../../api/log.ts'

function capture(format: 'json' | 'pretty' = 'json', level: 'debug' | 'warn' = 'debug') {
  const lines: string[] = []
  const log = createLog({ level, format }, { write: (line: string) => void lines.push(line) })
  return { log, lines }
}

describe('the log', () => {
  it('is one JSON object a line, whatever the text holds', () => {
    const { log, lines } = capture()
    log.info({ name: 'a\r\nX: y\u001b]0;t\u0007' }, 'two\nlines')
    expect(lines).toHaveLength(1)
    expect(lines[0]!.trimEnd()).not.toContain('\n')
    expect(lines[0]).not.toContain('\u001b')
    expect(JSON.parse(lines[0]!)).toMatchObject({ level: 'info', msg: 'two\nlines' })
  })

  it('leaves out header values and fields that carry credentials', () => {
    const { log, lines } = capture()
    log.info({
      headers: { authorization: 'Bearer canary', cookie: 'canary', 'x-svc-token': 'canary' },
      token: 'canary',
      key: { secret: 'canary' },
    })
    expect(lines[0]).toContain('[redacted]')
    expect(lines[0]).not.toContain('canary')
  })

  it('is readable lines in the format for terminals', () => {
    const { log, lines } = capture('pretty')
    log.info('hello')
    expect(lines.join('')).toMatch(/INFO.*hello/)
  })

  it.each([
    ['/?token=canary', '/?token=[redacted]'],
    ['/x?a=1&token=canary&b=2', '/x?a=1&token=[redacted]&b=2'],
    ['/ingest/webhook-0123456789abcdef?x=1', '/ingest/webhook-0123…?x=1'],
    ['/api/sources?limit=1', '/api/sources?limit=1'],
  ])('shows the address %s as %s', (url, shown) => {
    expect(scrubUrl(url)).toBe(shown)
  })

  it.each([
    [200, 5, 'debug', 'application/json'],
    [404, 5, 'debug', 'application/json'],
    [500, 5, 'warn', 'application/json'],
    [507, 5, 'debug', 'application/json'],
    [200, 1_001, 'warn', 'application/json'],
    [200, 60_000, 'debug', 'text/event-stream'],
  ])('has a line for a request answered %i after %i ms at %s', (status, ms, level, type) => {
    const { log, lines } = capture()
    const server = new EventEmitter()
    let now = 0
    logRequests(server as unknown as Server, log, () => now)
    const response = Object.assign(new EventEmitter(), {
      statusCode: status,
      writableEnded: true,
      getHeader: () => type,
    })
    server.emit('request', { method: 'GET', url: '/?token=canary' }, response)
    now = ms
    response.emit('close')
    expect(JSON.parse(lines[0]!)).toMatchObject({
      level,
      method: 'GET',
      url: '/?token=[redacted]',
      status,
      ms,
    })
  })
})
