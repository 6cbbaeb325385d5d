import { describe, expect, it } from 'vitest'
import { consoleUrl, describeStart, warnIfExposed } from '../../../../api/cli/daemon/announce.ts'
import { browserCommand } from '../../../../api/cli/daemon/open-browser.ts'

describe('what svc up prints', () => {
  it('is the two lines of a secured start', () => {
    expect(describeStart('http://127.0.0.1:8787', '/data', 'svc_root_x')).toBe(
      'svc: console at http://127.0.0.1:8787  ·  data in /data\nsvc: auth ON; log in at http://127.0.0.1:8787/?token=svc_root_x\n',
    )
  })

  it('is one line for an open start', () => {
    expect(describeStart('http://127.0.0.1:8787', '/data', 'svc_root_given', true)).toBe(
      'svc: console at http://127.0.0.1:8787  ·  data in /data\nsvc: auth ON; log in at http://127.0.0.1:8787 with the token that was given\n',
    )
    expect(describeStart('http://127.0.0.1:8787', '/data', null)).toBe(
      'svc: console at http://127.0.0.1:8787  ·  data in /data  ·  auth OFF (open; run with --auth to require a login)\n',
    )
  })

  it.each([
    ['0.0.0.0', 'http://127.0.0.1:1'],
    ['::', 'http://127.0.0.1:1'],
    ['::1', 'http://[::1]:1'],
    ['box.local', 'http://box.local:1'],
  ])('shows the bind address %s as %s', (host, url) => {
    expect(consoleUrl(host, 1)).toBe(url)
  })

  it.each([
    ['0.0.0.0', null, true],
    ['::', null, true],
    ['192.168.1.5', null, true],
    ['127.example.com', null, true],
    ['0.0.0.0', 'token', false],
    ['127.0.0.1', null, false],
    ['127.1.2.3', null, false],
    ['::1', null, false],
    ['localhost', null, false],
  ])('on %s with the root token %j warns: %s', (host, rootToken, warns) => {
    const warning = warnIfExposed(host, 8787, rootToken)
    expect(warning !== null).toBe(warns)
    if (warning) {
      expect(warning).toContain('--auth')
      expect(warning.split('\n').length).toBeGreaterThan(4)
    }
  })

  it('opens the browser with the command of each system', () => {
    expect(browserCommand('http://a/?x=1&y=2', 'linux')).toEqual(['xdg-open', ['http://a/?x=1&y=2']])
    expect(browserCommand('http://a', 'darwin')[0]).toBe('open')
    expect(browserCommand('http://a/?x=1&y=2', 'win32')[1]).toContain('http://a/?x=1^&y=2')
  })
})
