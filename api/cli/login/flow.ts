/**
 * `svc login`: the console's address is opened, a person approves there, the one-time code comes back
 * over 127.0.0.1 or by hand, and is exchanged for a key (RFC 8252 and 7636). The code alone is worth
 * nothing: the verifier never leaves this process but for the exchange.
 */

import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { hostname } from 'node:os'
import { loginMark } from '../../../schemas/login-words.ts'
import type { Health, KeyCreated, LoginExchange } from '../../../schemas/types.ts'
import * as calls from '../../client/calls.ts'
import { Client, problemOf } from '../client.ts'
import { isLoopback } from '../credentials.ts'
import { CliError } from '../exit.ts'
import { type Io, paint } from '../terminal.ts'

/** A person has this long to find the browser, log in and approve. */
const WAIT_MS = 600_000

export interface Ask {
  /** Daemon to log in to. */
  url: string
  /** What is proposed to the person, who may choose otherwise. */
  scopes: readonly string[]
  /** False: the code is carried over by hand. */
  browser: boolean
}

/** One login, until the key is here. @throws CliError */
export async function obtainKey(io: Io, ask: Ask): Promise<KeyCreated> {
  const client = new Client({ url: ask.url, token: null }, io)
  await greet(io, client)
  const verifier = secret()
  const challenge = createHash('sha256').update(verifier).digest('base64url')
  const state = secret()
  const address = (port: number | null): string =>
    `${ask.url}/connect/login?${new URLSearchParams({
      challenge,
      state,
      machine: machineName(hostname()),
      scopes: ask.scopes.join(','),
      ...(port === null ? {} : { port: String(port) }),
    })}`
  const exchange = (code: string, port: number | null): Promise<KeyCreated> =>
    redeem(client, { code, verifier, port })
  const compare = `The console shows ${paint(io, 'bold', loginMark(challenge))}; approve only where it is the same.\n`
  return ask.browser
    ? byBrowser(io, state, address, compare, exchange)
    : byHand(io, address(null), compare, exchange)
}

type Exchange = (code: string, port: number | null) => Promise<KeyCreated>

async function byBrowser(
  io: Io,
  state: string,
  address: (port: number) => string,
  compare: string,
  exchange: Exchange,
): Promise<KeyCreated> {
  const callback = await openCallback(state, AbortSignal.any([io.interrupted, AbortSignal.timeout(WAIT_MS)]))
  const { port } = callback
  let words = 'The login was not finished. The terminal says why.'
  try {
    const url = address(port)
    io.err(`Approve this login in the console:\n\n  ${url}\n\n${compare}`)
    io.browse(url, (reason) =>
      io.err(
        `no browser could be opened (${reason}); open the address yourself, or use --no-browser where the browser is on another machine\n`,
      ),
    )
    const answer = await callback.handedBack
    if ('declined' in answer) {
      words = 'Declined. Nothing was given to this machine.'
      throw new CliError('the login was declined in the console')
    }
    const created = await exchange(answer.code, port)
    words = 'This machine is logged in. You can close this page and go back to the terminal.'
    return created
  } catch (error) {
    throw explain(error, io)
  } finally {
    await callback.end(words)
  }
}

async function byHand(io: Io, url: string, compare: string, exchange: Exchange): Promise<KeyCreated> {
  io.err(`Approve this login in the console, on any machine:\n\n  ${url}\n\n${compare}Then paste the code: `)
  const interrupted = new Promise<never>((_resolve, reject) => {
    io.interrupted.addEventListener('abort', () => reject(new CliError('interrupted', 130)), { once: true })
  })
  const code = await Promise.race([firstLine(io), interrupted])
  if (code === '') throw new CliError('no code was given')
  return exchange(code, null)
}

async function redeem(client: Client, body: LoginExchange): Promise<KeyCreated> {
  const answer = await client.attempt(calls.exchangeLogin, { body })
  if (answer.status !== 201) throw client.refusal(answer)
  const created = problemOf(answer.text) as Partial<KeyCreated>
  if (typeof created.secret !== 'string' || typeof created.id !== 'string')
    throw new CliError(`${client.target.url} answered with no key`)
  return created as KeyCreated
}

/** The daemon is there and is one; a key that would travel in the clear is said. */
async function greet(io: Io, client: Client): Promise<void> {
  const { url } = client.target
  const answer = await client.attempt(calls.getHealth)
  const { auth_required: isSecured } = problemOf(answer.text) as Partial<Health>
  if (typeof isSecured !== 'boolean') throw client.refusal(answer)
  if (url.startsWith('http://') && !isLoopback(url))
    io.err(
      paint(io, 'yellow', `${url} is plain HTTP: the key travels unencrypted; use https where you can\n`),
    )
  if (!isSecured) io.err('this instance is open: keys are not checked until it runs with --auth\n')
}

async function firstLine(io: Io): Promise<string> {
  let text = ''
  for await (const chunk of io.stdin) {
    text += Buffer.from(chunk).toString('utf8')
    if (text.includes('\n')) break
  }
  return text.split('\n')[0]!.trim()
}

function explain(error: unknown, io: Io): unknown {
  if (io.interrupted.aborted) return new CliError('interrupted', 130)
  if ((error as Error).name === 'TimeoutError')
    return new CliError(`nobody approved within ${WAIT_MS / 60_000} minutes; run svc login again`)
  return error
}

/** 256 bits, 43 characters. */
const secret = (): string => randomBytes(32).toString('base64url')

/** A host name as the API takes it. */
const machineName = (name: string): string => name.replace(/[^A-Za-z0-9._-]/g, '-').slice(0, 50) || 'machine'

/*
 * Where the console hands the code back: one address on 127.0.0.1, on a free port, open for one login.
 * Other programs and pages may knock here too. What does not know the login's state changes nothing,
 * and the login goes on.
 */

/** How a login ended in the browser. */
type HandedBack = { code: string } | { declined: true }

interface Callback {
  port: number
  /** Rejects with the signal's reason. */
  handedBack: Promise<HandedBack>
  /** Tells the browser how it went, and closes the port. */
  end(words: string): Promise<void>
}

/** @param state a random value that only the console was given: an answer with another one is refused (RFC 6749, 10.12) */
async function openCallback(state: string, signal: AbortSignal): Promise<Callback> {
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
