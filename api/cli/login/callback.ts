/**
 * Where the console hands the code back: one address on 127.0.0.1, on a free port, open for one login.
 * Other programs and pages may knock here too. What does not know the login's state changes nothing,
 * and the login goes on.
 */
import { createHash, timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** How a login ended in the browser. */
export type HandedBack = { code: string } | { declined: true }

export interface Callback {
  port: number
  /** Rejects with the signal's reason. */
  handedBack: Promise<HandedBack>
  /** Tells the browser how it went, and closes the port. */
  end(words: string): Promise<void>
}

/** @param state what only the console was told. */
export async function openCallback(state: string, signal: AbortSignal): Promise<Callback> {
  let browser: ServerResponse | null = null
  let settle: (answer: HandedBack) => void = () => {}
  const handedBack = new Promise<HandedBack>((resolve, reject) => {
    settle = resolve
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
  const server = createServer({ headersTimeout: 10_000, maxHeaderSize: 8_192 }, (request, response) => {
    const { port } = server.address() as AddressInfo
    const answer = read(request, port, state)
    if (answer === null || browser !== null) return page(response, 404, 'Nothing is here.')
    browser = response
    settle(answer)
  })
  server.maxConnections = 16
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    handedBack,
    end: async (words) => {
      if (browser) {
        page(browser, 200, words)
        // The person's browser gets the sentence before the port goes.
        if (!browser.writableFinished && !browser.destroyed)
          await Promise.race([once(browser, 'finish'), once(browser, 'close')])
      }
      server.closeAllConnections()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}

/** What a request hands back; null for one that is not the console's. */
function read(request: IncomingMessage, port: number, state: string): HandedBack | null {
  // Another name that leads to 127.0.0.1 is a page that got it there (DNS rebinding).
  if (request.method !== 'GET' || request.headers.host !== `127.0.0.1:${port}`) return null
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://127.0.0.1')
  if (pathname !== '/' || !isSame(searchParams.get('state') ?? '', state)) return null
  if (searchParams.get('declined') === 'true') return { declined: true }
  const code = searchParams.get('code')
  return code ? { code } : null
}

function page(response: ServerResponse, status: number, words: string): void {
  response.writeHead(status, {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
    'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    connection: 'close',
  })
  response.end(
    `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="color-scheme" content="light dark"><title>svc login</title><main style="font:16px system-ui;max-width:32rem;margin:20vh auto;padding:0 1rem"><h1 style="font-size:1.4rem">svc login</h1><p>${escapeHtml(words)}</p></main></html>`,
  )
}

const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`)

const isSame = (a: string, b: string): boolean => timingSafeEqual(sha256(a), sha256(b))

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest()
