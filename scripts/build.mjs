/**
 * Builds dist/: the daemon and command (dist/svc.mjs), the engine's threads
 * (dist/engine-worker.mjs), migrations, the catalog, and the console (dist/console). `node scripts/build.mjs`
 * builds all of it; `ensureBuilt` builds what is missing or older than its sources, which it knows
 * by a hash of them, so that a checkout that changes times does not build again.
 */
import { createHash } from 'node:crypto'
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { isBuiltin } from 'node:module'
import { basename, dirname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { localBin, main, root, run, ScriptError, say } from './run.mjs'

const dist = join(root, 'dist')

/** @typedef {{ title: string, inputs: string[], output: string, build: () => Promise<void> }} Part */

/** @type {Record<string, Part>} */
const parts = {
  daemon: {
    title: 'the daemon',
    inputs: [
      'schemas',
      'machines',
      'engine',
      'api',
      'catalog',
      'examples/gitops',
      'package.json',
      'package-lock.json',
      'tsconfig.json',
      'scripts/build.mjs',
    ],
    output: 'svc.mjs',
    build: () => buildDaemon(),
  },
  console: {
    title: 'the console',
    inputs: [
      ...['schemas', 'machines', 'api/client', 'console', 'docs'],
      ...['package.json', 'package-lock.json', 'scripts/build.mjs'],
    ],
    output: 'console/index.html',
    build: buildConsole,
  },
}

/** Builds the parts that are missing or stale; says in one line what it builds. */
export async function ensureBuilt() {
  mkdirSync(dist, { recursive: true })
  for (const [name, part] of Object.entries(parts)) {
    const stamp = join(dist, `.${name}.sha256`)
    const hash = fingerprint(part.inputs)
    const isFresh =
      existsSync(join(dist, part.output)) && existsSync(stamp) && readFileSync(stamp, 'utf8') === hash
    if (isFresh) continue
    say(`building ${part.title}…`)
    // Forgotten first: a build that fails half way must not look up to date.
    rmSync(stamp, { force: true })
    await part.build()
    writeFileSync(stamp, hash)
  }
}

/**
 * Packages that stay in node_modules: what has a binary, files or threads of its own, is loaded when it is first
 * needed, or must be one for all that use it. The rest is bundled: a start that finds, reads and links 600 files took
 * more than twice the processor time, and twice the memory of the modules.
 */
const EXTERNAL = [
  'better-sqlite3',
  '@fastify/swagger-ui',
  'pino',
  'pino-pretty',
  'pg',
  '@opentelemetry/*',
  'openai',
  '@anthropic-ai/sdk',
]

/**
 * Node's own modules as they are, not as `import` gives them: that makes a facade of all that a module exports,
 * and asks for things that are loaded when first asked for, such as the WebSocket of `node:http`, which loads
 * undici. Every thread has its own.
 * @type {import('esbuild').Plugin}
 */
const builtinsByName = {
  name: 'builtins by name',
  setup(build) {
    build.onResolve({ filter: /^(node:)?[a-z0-9_/]+$/ }, ({ path, kind }) =>
      isBuiltin(path) && kind !== 'dynamic-import' ? { path, namespace: 'builtin' } : undefined,
    )
    build.onLoad({ filter: /.*/, namespace: 'builtin' }, ({ path }) => ({
      contents: `module.exports = process.getBuiltinModule(${JSON.stringify(path)})`,
    }))
  },
}

/**
 * Replaces schemas/registry.ts by a module that holds each schema as text and parses it when it is first asked for.
 * As literals, every thread would make all 658 when it starts.
 * @type {import('esbuild').Plugin}
 */
const schemasAsText = {
  name: 'schemas as text',
  setup(build) {
    build.onLoad({ filter: /[\\/]schemas[\\/]registry\.ts$/ }, ({ path }) => {
      const files = [...readFileSync(path, 'utf8').matchAll(/^import s\d+ from '(.+)' with/gm)].map(
        ([, file]) => join(dirname(path), String(file)),
      )
      const texts = files.map((file) => {
        const schema = JSON.parse(readFileSync(file, 'utf8'))
        return [schema.$id, JSON.stringify(schema)]
      })
      return { contents: lazyRegistry(Object.fromEntries(texts)), watchFiles: files }
    })
  },
}

/**
 * The module that replaces schemas/registry.ts.
 * @param {Record<string, string>} texts each schema as JSON, by its $id
 */
const lazyRegistry = (texts) => `
const texts = ${JSON.stringify(texts)}
const known = new Map()
export const schemaIds = Object.keys(texts)
export function findSchema(id) {
  if (!known.has(id) && Object.hasOwn(texts, id)) known.set(id, JSON.parse(texts[id]))
  return known.get(id)
}`

/**
 * What is bundled by itself: no thread loads code of both. Bundled together each is cut into more chunks by what the
 * other needs, and what a thread resolves and links of them, not their size, is most of what its start costs: 398 imports
 * between chunks on the main thread are 235 so, 319 of the writer 193 (2026-11-26).
 * @type {readonly Record<string, string>[]}
 */
const PROGRAMS = [{ svc: 'api/cli/svc.ts' }, { 'engine-worker': 'engine/threads/worker.ts' }]

/**
 * How the daemon is bundled; both programs at once where they are not said, as for `npm run dev`.
 * @param {string} outdir under the root
 * @returns {import('esbuild').BuildOptions & { metafile: true }}
 */
export function daemonOptions(outdir) {
  return {
    absWorkingDir: root,
    entryPoints: Object.assign({}, ...PROGRAMS),
    outdir,
    outExtension: { '.js': '.mjs' },
    chunkNames: 'chunk-[hash]',
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    target: 'node22.15',
    external: EXTERNAL,
    // For what bundled packages require of those.
    banner: { js: "const require = process.getBuiltinModule('node:module').createRequire(import.meta.url);" },
    plugins: [builtinsByName, schemasAsText],
    // Each thread holds the text of what it loads: without comments and indents it is a third shorter. Names stay.
    minifyWhitespace: true,
    lineLimit: 120,
    sourcemap: true,
    sourcesContent: false,
    metafile: true,
    logLevel: 'silent',
  }
}

/**
 * Puts the migrations and the catalog beside the bundle and removes chunks of builds before.
 * @param {string} outdir under the root
 * @param {readonly string[]} outputs what this build wrote
 * @param {readonly string[]} kept names of chunks that stay, too
 */
export function finishDaemon(outdir, outputs, kept = []) {
  const folder = join(root, outdir)
  const written = new Set(outputs.map((path) => basename(path)))
  for (const file of written) if (file.endsWith('.mjs')) narrow(join(folder, file))
  for (const file of readdirSync(folder))
    if (file.startsWith('chunk-') && !written.has(file) && !kept.includes(file)) rmSync(join(folder, file))
  for (const [from, to] of Object.entries({
    'engine/log/store/migrations': 'migrations',
    catalog: 'catalog',
  })) {
    rmSync(join(folder, to), { recursive: true, force: true })
    cpSync(join(root, from), join(folder, to), { recursive: true })
  }
  writeFileSync(join(folder, 'starter.json'), JSON.stringify(starterTexts()))
}

/** What `svc catalog init` writes, by its path: as one file, since npm packs no .gitignore. @returns {Record<string, string>} */
function starterTexts() {
  const folder = join(root, 'examples/gitops')
  return Object.fromEntries(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name !== 'catalog.schema.json')
      .map((entry) => join(entry.parentPath, entry.name))
      .map((path) => [relative(folder, path).split(sep).join('/'), readFileSync(path, 'utf8')]),
  )
}

/**
 * Escapes what is beyond ASCII, in comments and regular expressions too, which the bundler leaves: one such
 * character makes Node hold the whole text of a file at two bytes a character, in every thread.
 * @param {string} file
 */
function narrow(file) {
  const text = readFileSync(file, 'utf8')
  const escaped = text.replace(
    /[^\0-\x7f]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
  if (escaped !== text) writeFileSync(file, escaped)
}

/** Builds the daemon. @param {string} outdir under the root */
export async function buildDaemon(outdir = 'dist') {
  const { build } = await import('esbuild')
  const bundles = PROGRAMS.map((entryPoints) => build({ ...daemonOptions(outdir), entryPoints }))
  const results = await Promise.all(bundles).catch((error) => {
    throw new ScriptError(`the daemon does not build:\n${error.message}`)
  })
  const outputs = Object.assign({}, ...results.map(({ metafile }) => metafile.outputs))
  for (const { imports } of Object.values(/** @type {import('esbuild').Metafile['outputs']} */ (outputs)))
    for (const { path, kind } of imports)
      if (kind === 'dynamic-import' && outputs[path]?.exports.join() === 'default')
        throw new ScriptError(
          `${outputs[path]?.entryPoint} is CommonJS, of which import() in a bundle gives the default alone: import() a module that exports its names`,
        )
  const list = join(root, outdir, '.outputs')
  // A daemon of the build before may run, and load one for the first time, such as the client of a model provider.
  const before = existsSync(list) ? readFileSync(list, 'utf8').split('\n') : []
  finishDaemon(outdir, Object.keys(outputs), before)
  const names = Object.keys(outputs).map((path) => basename(path))
  writeFileSync(list, names.join('\n'))
  // What V8 compiled of the build before.
  rmSync(join(root, outdir, '.compiled'), { recursive: true, force: true })
}

/**
 * A daemon as the sources are now, for tests: that of dist/ where it is up to date, which takes reading them and no
 * build. Else one is built apart, since others may be running that of dist/.
 * @param {string} outdir under the root, where it is built if it must be
 * @returns {Promise<string>} its svc.mjs
 */
export async function currentDaemon(outdir) {
  const { inputs, output } = /** @type {Part} */ (parts.daemon)
  const stamp = join(dist, '.daemon.sha256')
  const [inDist, apart] = [join(dist, output), join(root, outdir, output)]
  if (existsSync(inDist) && existsSync(stamp) && readFileSync(stamp, 'utf8') === fingerprint(inputs))
    return inDist
  await buildDaemon(outdir)
  return apart
}

async function buildConsole() {
  const { code, output } = await run(localBin('vite'), [
    'build',
    '--config',
    'console/vite.config.ts',
    '--logLevel',
    'warn',
  ])
  if (code !== 0) throw new ScriptError(`the console does not build:\n${output}`)
  await packAssets(join(dist, 'console', 'assets'))
}

/**
 * Works out anew which file of the console each module goes into, by what each takes, and keeps it
 * (console/build/placing.ts). The first build tells what that is; the third, as it depends on what is in a file together.
 */
async function splitAnew() {
  const packed = join(dist, 'split-packed.json')
  rmSync(packed, { force: true })
  process.env.CONSOLE_SPLIT = packed
  for (let n = 0; n < 3; n += 1) await buildConsole()
  rmSync(packed)
}

/** Smaller files are not worth a second one. */
const PACKED_FROM_BYTES = 1_000

/**
 * Puts each asset beside itself as gzip (.gz) and as Brotli (.br), as small as they get: browsers are served what
 * they take, and nothing is compressed on the way.
 * @param {string} folder
 */
export async function packAssets(folder) {
  const { brotliCompress, constants, gzip } = await import('node:zlib')
  const { promisify } = await import('node:util')
  const [gz, br] = [promisify(gzip), promisify(brotliCompress)]
  await Promise.all(
    readdirSync(folder)
      .filter((name) => /\.(js|css|svg|json)$/.test(name))
      .map(async (name) => {
        const bytes = readFileSync(join(folder, name))
        if (bytes.length < PACKED_FROM_BYTES) return
        writeFileSync(join(folder, `${name}.gz`), await gz(bytes, { level: 9 }))
        const params = {
          [constants.BROTLI_PARAM_QUALITY]: 11,
          [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
        }
        writeFileSync(join(folder, `${name}.br`), await br(bytes, { params }))
      }),
  )
}

/**
 * @param {readonly string[]} inputs files and folders under the root
 * @returns {string} hex SHA-256 of their paths and contents
 */
function fingerprint(inputs) {
  const hash = createHash('sha256')
  for (const input of inputs) {
    const path = join(root, input)
    if (!existsSync(path)) continue
    for (const file of statSync(path).isDirectory() ? filesUnder(path) : [path]) {
      hash.update(`\0${file.slice(root.length)}\0`).update(readFileSync(file))
    }
  }
  return hash.digest('hex')
}

/**
 * @param {string} folder
 * @returns {string[]}
 */
function filesUnder(folder) {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await main(async () => {
    for (const name of Object.keys(parts)) rmSync(join(dist, `.${name}.sha256`), { force: true })
    await ensureBuilt()
    if (process.argv.includes('--split')) await splitAnew()
  })
}
