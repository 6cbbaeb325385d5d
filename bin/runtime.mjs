/**
 * Chooses the Node that runs this project: the one that runs already where it is new enough
 * (`engines` of package.json), the one that SVC_NODE names, or a Node 24 LTS that is fetched once from the npm
 * registry into .node/. Node built-ins only, in the syntax of old Nodes: this runs under any of them.
 */
import { execFile, spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import module from 'node:module'
import { constants } from 'node:os'
import { delimiter, dirname, join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))

/** Where fetched Nodes are kept; ignored by git. */
const KEPT = join(root, '.node')

/** What V8 has compiled, by the version of Node; ignored by git. */
const COMPILED = join(root, 'dist', '.compiled')

/** Set for the Node that is handed over to, which takes it away again: it chooses no further. */
const CHOSEN = 'SVC_NODE_CHOSEN'

const FETCHED_MAJOR = '24'

/**
 * V8's flags for the daemon. The main thread's young heap stays at 4 MB, which keeps resident memory low; it has that
 * size from the beginning, as growing to it takes a twentieth of the processor time of a start.
 */
const LEAN_FLAGS = ['--min-semi-space-size=4', '--max-semi-space-size=4']

/**
 * Settings of glibc's malloc (mallopt(3)). Two arenas: with one the threads wait for each other, and the default
 * number keeps 20 to 30 MB more. Fixed thresholds: by default they rise with each large block that is freed, and the
 * memory of request bodies is not returned to the system.
 */
const LEAN_ENV = {
  MALLOC_ARENA_MAX: '2',
  MALLOC_MMAP_THRESHOLD_: '131072',
  MALLOC_TRIM_THRESHOLD_: '131072',
}

/** Set for a process that was started with these. */
const LEAN = 'SVC_NODE_LEAN'

/** Without a network npm would wait for minutes. */
const FEW_TRIES = ['--fetch-retries=1', '--fetch-retry-mintimeout=1000']

/** Signals that end or steer a program. SIGKILL cannot be caught; the child sees its parent go. */
const FORWARDED = /** @type {NodeJS.Signals[]} */ (['SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR2', 'SIGINT'])

/** Says in one sentence, for a person, why no Node could be chosen. */
export class RuntimeError extends Error {}

/** @typedef {(signal: AbortSignal) => Promise<void>} Meanwhile what never fails, and ends when it is cut off */

/**
 * @typedef {object} Release
 * @property {string} package on the npm registry
 * @property {string} version
 * @property {string} program inside the package
 * @property {string} integrity of the package, as a lock file has it
 */

/** Whether the Node of this process is the one to run under; a script of this project may launch another. */
let isChosen = false

/**
 * Runs a module of this project to its end, in this process where its Node is new enough, else in one of a
 * Node that is, with the same standard streams; signals are passed on, and so are its exit code or signal.
 * @param {string} file path of the module
 * @param {readonly string[]} args what follows it in `process.argv`
 * @param {{ isDaemon?: boolean, meanwhile?: Meanwhile }} [options] a daemon serves for long: it starts with little
 *   memory to keep; `meanwhile` is begun while a Node is fetched
 * @throws RuntimeError when no Node that is new enough can be had
 */
export async function launch(file, args, { isDaemon = false, meanwhile } = {}) {
  if (process.env[CHOSEN] !== undefined) endWithParent()
  isChosen ||= process.env[CHOSEN] !== undefined || process.env[LEAN] !== undefined
  delete process.env[CHOSEN]
  const node = isChosen ? process.execPath : await chooseNode(meanwhile)
  if (node !== process.execPath) return handOver(node, file, args)
  isChosen = true
  if (isDaemon) becomeLean(file, args)
  delete process.env[LEAN]
  process.argv = [process.execPath, file, ...args]
  keepCompiled()
  await import(pathToFileURL(file).href)
}

/**
 * Begins this process anew, under its id, with what a daemon is told of memory, which neither V8 nor glibc can be
 * told later. Goes on as it is where the system has no execve (Windows) and where a channel to the
 * parent would be lost, whose process began with this already.
 * @param {string} file
 * @param {readonly string[]} args
 */
function becomeLean(file, args) {
  if (process.env[LEAN] !== undefined || process.connected || process.execve === undefined) return
  const command = [process.execPath, ...LEAN_FLAGS, ...process.execArgv, join(root, 'bin', 'node.mjs'), file]
  // What the operator has set comes later, and wins.
  process.execve(process.execPath, [...command, ...args], { ...LEAN_ENV, ...process.env, [LEAN]: '1' })
}

/** Keeps what V8 compiles, beside what it is made from: a third of the processor time of a start goes into it. */
function keepCompiled() {
  // Named through the module: an old Node, which only hands over, does not have it.
  if (process.env.NODE_DISABLE_COMPILE_CACHE === undefined) module.enableCompileCache?.(COMPILED)
}

/**
 * @param {Meanwhile} [meanwhile]
 * @returns {Promise<string>} path of the Node to run under
 */
async function chooseNode(meanwhile) {
  const named = process.env.SVC_NODE
  if (named) {
    const version = await versionOf(named)
    if (version === null) throw new RuntimeError(`SVC_NODE names ${named}, which does not run`)
    if (!isNewEnough(version))
      throw new RuntimeError(
        `SVC_NODE names Node ${version}, and Node ${leastVersion()} or newer is needed: name another, or unset it`,
      )
    return named
  }
  return isNewEnough(process.versions.node) ? process.execPath : ensureNode(FETCHED_MAJOR, meanwhile)
}

/** @returns {string} the lowest version this project runs on, of `engines` in package.json */
function leastVersion() {
  return JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).engines.node.replace('>=', '')
}

/** @param {string} version @returns {boolean} */
function isNewEnough(version) {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const [leastMajor = 0, leastMinor = 0] = leastVersion().split('.').map(Number)
  return major > leastMajor || (major === leastMajor && minor >= leastMinor)
}

/** @param {string} node @returns {Promise<string | null>} its version, without the v; null: it does not run */
function versionOf(node) {
  return new Promise((done) => {
    execFile(node, ['--version'], (error, stdout) => done(error ? null : stdout.trim().replace(/^v/, '')))
  })
}

/**
 * @param {string} major a major version of Node in node-releases.json
 * @param {Meanwhile} [meanwhile] what else may be done while it is fetched
 * @returns {Promise<string>} path of a Node of that version in .node/, fetched if it is not there
 * @throws RuntimeError
 */
export async function ensureNode(major, meanwhile) {
  const releases = JSON.parse(readFileSync(join(root, 'bin', 'node-releases.json'), 'utf8'))
  const system = `${process.platform}-${process.arch}`
  /** @type {Release | undefined} */
  const release = releases[major]?.[system] ?? (major === FETCHED_MAJOR ? releases['22'][system] : undefined)
  if (!release) throw new RuntimeError(`${tooOld()}, and there is none for this system. ${byHand()}`)
  const folder = join(KEPT, release.version)
  const node = join(folder, release.program)
  if (existsSync(node)) return node
  if (isMusl()) throw new RuntimeError(`${tooOld()}, and the npm registry has none for musl. ${byHand(node)}`)
  process.stderr.write(
    `svc: fetching Node ${release.version} from the npm registry into .node (once, about a quarter of a minute)…\n`,
  )
  const cut = new AbortController()
  const other = meanwhile?.(cut.signal)
  try {
    await fetchNode(release, folder)
    await other
  } finally {
    cut.abort()
  }
  if ((await versionOf(node)) !== null) return node
  rmSync(folder, { recursive: true, force: true })
  throw new RuntimeError(`${tooOld()}, and the one that was fetched does not run here. ${byHand(node)}`)
}

/** @returns {boolean} whether this is a Linux without glibc, for which the packages hold no program */
function isMusl() {
  /** @type {any} */
  const report = process.report?.getReport()
  return process.platform === 'linux' && !report?.header?.glibcVersionRuntime
}

/**
 * Installs a package of Node with npm, which checks its integrity, beside its place and moves it there whole.
 * @param {Release} release
 * @param {string} folder
 */
async function fetchNode(release, folder) {
  mkdirSync(KEPT, { recursive: true })
  const scratch = mkdtempSync(join(KEPT, 'fetching-'))
  try {
    const dependencies = { [release.package]: release.version }
    const entry = { version: release.version, integrity: release.integrity }
    writeFileSync(join(scratch, 'package.json'), JSON.stringify({ private: true, dependencies }))
    writeFileSync(
      join(scratch, 'package-lock.json'),
      JSON.stringify({
        lockfileVersion: 3,
        packages: { '': { dependencies }, [`node_modules/${release.package}`]: entry },
      }),
    )
    const { command, args } = npmCommand()
    const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error', ...FEW_TRIES]
    const failure = await outputOf(command, [...args, 'ci', '--prefix', scratch, ...flags], scratch)
    const installed = join(scratch, 'node_modules', release.package)
    if (failure !== null || !existsSync(join(installed, release.program)))
      throw new RuntimeError(
        `${tooOld()}, and Node ${release.version} could not be fetched from the npm registry (${firstLine(failure)}). ${byHand(join(folder, release.program))}`,
      )
    try {
      renameSync(installed, folder)
    } catch (error) {
      // Another start was faster, and what it put there is the same package.
      if (!existsSync(join(folder, release.program))) throw error
    }
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

const tooOld = () => `Node ${leastVersion()} or newer is needed; this is ${process.versions.node}`

/** @param {string} [place] where a program of Node would be found */
const byHand = (place) =>
  `Install Node ${leastVersion()} or newer, or name one with SVC_NODE=/path/to/node${place ? `, or put one at ${place}` : ''}`

/** @param {string | null} output @returns {string} the line of npm's output that says what failed */
function firstLine(output) {
  const lines = (output ?? '').split('\n').map((line) => line.replace(/^npm (error|ERR!) ?/, '').trim())
  return lines.find((line) => line && !/^(code|errno|syscall) /.test(line)) ?? 'npm did not say why'
}

/**
 * npm, run by this Node: the one that runs this script where there is one, else the one beside this Node.
 * @returns {{ command: string, args: string[] }}
 */
export function npmCommand() {
  const own = dirname(process.execPath)
  const places = [
    process.env.npm_execpath ?? '',
    resolve(own, '..', 'lib', 'node_modules', 'npm', 'bin', 'npm-cli.js'),
    join(own, 'node_modules', 'npm', 'bin', 'npm-cli.js'),
  ]
  const script = places.find((place) => /npm-cli\.c?js$/.test(place) && existsSync(place))
  if (script) return { command: process.execPath, args: [script] }
  return process.platform === 'win32' ? { command: 'cmd', args: ['/c', 'npm'] } : { command: 'npm', args: [] }
}

/**
 * @param {string} command
 * @param {readonly string[]} args
 * @param {string} cwd
 * @returns {Promise<string | null>} what it wrote, or why it did not run; null when it ended well
 */
function outputOf(command, args, cwd) {
  return new Promise((done) => {
    execFile(command, args, { cwd }, (error, stdout, stderr) =>
      done(error ? `${stderr}${stdout}` || error.message : null),
    )
  })
}

/**
 * @param {string} node
 * @param {string} file
 * @param {readonly string[]} args
 */
function handOver(node, file, args) {
  const child = spawn(node, [...LEAN_FLAGS, join(root, 'bin', 'node.mjs'), file, ...args], {
    // The channel carries no message: it closes when this process ends, however it ends.
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    env: {
      ...LEAN_ENV,
      ...process.env,
      [CHOSEN]: '1',
      // What is started by name, as programs of node_modules/.bin are, runs under the same Node.
      PATH: `${dirname(resolve(node))}${delimiter}${process.env.PATH ?? ''}`,
    },
  })
  for (const signal of FORWARDED) {
    process.on(signal, () => {
      // A terminal sends Ctrl-C to both.
      if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal)
    })
  }
  return new Promise((done, fail) => {
    child.on('error', (error) => fail(new RuntimeError(`${node} cannot be started: ${error.message}`)))
    child.on('exit', (code, signal) => {
      process.exitCode = code ?? 128 + (constants.signals[signal ?? 'SIGTERM'] ?? 0)
      if (signal) {
        process.removeAllListeners(signal)
        process.kill(process.pid, signal)
      }
      done(undefined)
    })
  })
}

/**
 * Ends this process in good order when the shell that npm started it in is gone: npm passes a signal on to that
 * shell alone, so a supervisor that stops `npm start` would leave the daemon behind. Does nothing outside npm.
 * @param {number} [everyMs] how often it is looked whether the shell is there, in milliseconds
 */
export function endWithNpm(everyMs = 500) {
  if (process.env.npm_lifecycle_event === undefined || process.platform === 'win32') return
  const shell = process.ppid
  const look = setInterval(() => {
    if (process.ppid === shell) return
    clearInterval(look)
    process.kill(process.pid, 'SIGTERM')
  }, everyMs)
  look.unref()
}

/** Ends this process in good order when the one that started it is gone, so that no daemon stays behind. */
function endWithParent() {
  if (!process.connected) return
  process.on('disconnect', () => process.kill(process.pid, 'SIGTERM'))
  process.channel?.unref()
}
