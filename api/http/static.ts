/**
 * The console: its files, and its one page for every address of its own. An asset that the build
 * has also compressed is sent so where it is taken (RFC 9110, section 12.5.3).
 */
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { extname, join } from 'node:path'
import send from '@fastify/send'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { bestCoding, type Coding } from './taken-codings.ts'

declare module 'fastify' {
  interface FastifyReply {
    /** Answers with the console's page. */
    callNotFoundPage(): Promise<FastifyReply>
  }
}

const PAGE = 'index.html'
const POLICY = 'content-security-policy'
/** What the build compresses. */
const TYPES: Record<string, string> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.json': 'application/json; charset=utf-8',
}
const NOT_BUILT =
  '<!doctype html><html lang="en"><title>svc</title><body><h1>svc</h1><p>The daemon runs; the console is not built. Run <code>npm run setup</code>, then start again.</p></body></html>'

/** @param folder the built console, or null when there is none. */
export function registerConsole(app: FastifyInstance, folder: string | null): void {
  if (folder === null || !existsSync(join(folder, PAGE))) {
    const say = (reply: FastifyReply) => reply.type('text/html').send(NOT_BUILT)
    app.get('/', { schema: { hide: true } }, (_request, reply) => say(reply))
    app.decorateReply('callNotFoundPage', async function (this: FastifyReply) {
      return say(this)
    })
    return
  }
  const built = lookAt(folder)
  const sendPage = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const policy = String(reply.raw.getHeader(POLICY)).replace(
      "script-src 'self'",
      `script-src ${built().scripts}`,
    )
    return sendFile(request, reply.header(POLICY, policy), folder, PAGE)
  }
  // What is served are the files that are listed, by their exact names: a path can name nothing else.
  for (const name of namesOf(folder))
    app.get(`/${name}`, { schema: { hide: true } }, (request, reply) =>
      name === PAGE ? sendPage(request, reply) : sendFile(request, reply, folder, name),
    )
  app.get('/', { schema: { hide: true } }, sendPage)
  app.get<{ Params: { '*': string } }>('/assets/*', { schema: { hide: true } }, (request, reply) => {
    const name = request.params['*']
    const codings = built().assets.get(name)
    if (!codings) return reply.callNotFound()
    return sendFile(request, reply, folder, `assets/${name}`, codings)
  })
  app.decorateReply('callNotFoundPage', function (this: FastifyReply) {
    return sendPage(this.request, this)
  })
}

interface Built {
  /** Each asset, with the codings that it is there in besides as it is. */
  assets: Map<string, Coding[]>
  /** Sources of scripts that the page may run. */
  scripts: string
}

/**
 * @returns tells what the build put there. A build beside a daemon that runs, such as that of a second `npm start`, puts
 * another in its place, whose page would be empty without its assets and its script.
 */
function lookAt(folder: string): () => Built {
  const [page, assets] = [join(folder, PAGE), join(folder, 'assets')]
  const changedAt = (path: string) => statSync(path, { throwIfNoEntry: false })?.mtimeMs
  let seen = ''
  let built: Built = { assets: new Map(), scripts: "'self'" }
  return () => {
    const now = `${changedAt(page)} ${changedAt(assets)}`
    // Between its files there is no page: what was there is told until there is one.
    if (now !== seen && existsSync(page)) {
      built = { assets: assetsIn(assets), scripts: scriptsIn(readFileSync(page, 'utf8')) }
      seen = now
    }
    return built
  }
}

/** The page has a script of the build in it, which browsers run by its hash (CSP 3, section 2.3.1). */
function scriptsIn(page: string): string {
  const hashes = [...page.matchAll(/<script>([\s\S]*?)<\/script>/g)].map(
    ([, text = '']) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`,
  )
  return ["'self'", ...hashes].join(' ')
}

/** Names of the files in a folder, without those of folders in it. */
function namesOf(folder: string): string[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => (entry.isFile() ? [entry.name] : []))
}

/** Ends of the names of files that are others, compressed. */
const ENDS: Record<Coding, string> = { br: '.br', gzip: '.gz' }

function assetsIn(folder: string): Map<string, Coding[]> {
  const all = new Set(namesOf(folder))
  const isPacked = (name: string): boolean =>
    Object.values(ENDS).some((end) => name.endsWith(end) && all.has(name.slice(0, -end.length)))
  const codings = Object.keys(ENDS) as Coding[]
  return new Map(
    [...all]
      .filter((name) => !isPacked(name))
      .map((name) => [name, codings.filter((coding) => all.has(name + ENDS[coding]))]),
  )
}

/**
 * @param name of a file that is there, under the folder.
 * @param codings it is there in, too
 */
async function sendFile(
  request: FastifyRequest,
  reply: FastifyReply,
  folder: string,
  name: string,
  codings: readonly Coding[] = [],
): Promise<FastifyReply> {
  const coding = bestCoding(request.headers['accept-encoding'], codings)
  const path = coding === null ? name : name + ENDS[coding]
  const found = await send(request.raw, `/${path}`, { root: folder, cacheControl: false, index: false })
  if (found.type === 'error') throw found.metadata.error
  if (coding !== null) {
    // Of what it is, not of how it is packed.
    const { 'content-type': _, ...rest } = found.headers
    const type = TYPES[extname(name)]
    reply.headers({ ...rest, 'content-encoding': coding, ...(type ? { 'content-type': type } : {}) })
  } else reply.headers(found.headers)
  // Caches between must not hand the one to who takes the other.
  if (codings.length > 0) reply.header('vary', 'Accept-Encoding')
  return reply
    .code(found.statusCode)
    .header(
      'cache-control',
      // The name of an asset has a hash of its bytes.
      name.startsWith('assets/') ? 'public, max-age=31536000, immutable' : 'no-store',
    )
    .send(found.stream)
}
