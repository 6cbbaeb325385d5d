/**
 * What the image asks whether its process is well: it finds out where that listens, from its command line and from the
 * variables that both have, and asks its `/health`. It ends with 0 or 1. Node built-ins only.
 *
 * An argument names the file that has the command line: another one than that of the first process of the container.
 */
import { readFileSync } from 'node:fs'
import { Agent, get } from 'node:http'

/** The commands that listen: the words that begin their variables, and their ports. */
const LISTENS = /** @type {const} */ ({
  up: ['SVC', 8787],
  mcp: ['SVC_MCP', 8788],
  telemetry: ['SVC_TELEMETRY', 8789],
})

const words = readFileSync(process.argv[2] ?? '/proc/1/cmdline', 'utf8').split('\0')

/** A flag of the command line, as `--port 9000` or `--port=9000`; the last one holds. @param {string} name */
function flag(name) {
  const at = words.findLastIndex((word) => word === name || word.startsWith(`${name}=`))
  if (at === -1) return undefined
  return words[at] === name ? words[at + 1] : words[at]?.slice(name.length + 1)
}

/** A variable; one that another container's link set, such as tcp://10.96.1.2:8787, is not ours. @param {string} name */
function variable(name) {
  const value = process.env[name]?.trim()
  return value && !/^(tcp|udp|sctp):\/\//.test(value) ? value : undefined
}

/** @param {string} word @returns {word is keyof typeof LISTENS} */
function isListening(word) {
  return Object.hasOwn(LISTENS, word)
}

/** Where the process listens; null: over standard input and output alone. */
function address() {
  const command = words.find(isListening) ?? 'up'
  const transport = flag('--transport') ?? variable('SVC_MCP_TRANSPORT') ?? 'stdio'
  if (command === 'mcp' && transport === 'stdio') return null
  const [begin, standard] = LISTENS[command]
  const host = (flag('--host') ?? variable(`${begin}_HOST`) ?? '').replace(/^\[(.*)\]$/, '$1')
  const port = flag('--port') ?? variable(`${begin}_PORT`) ?? standard
  // Who listens at every address does at this one.
  const named = ['', '0.0.0.0', '::', '::0'].includes(host) ? '127.0.0.1' : host
  return `http://${named.includes(':') ? `[${named}]` : named}:${port}/health`
}

/**
 * The status that it answers with. Asked by an agent of its own: `fetch` would ask a proxy where NODE_USE_ENV_PROXY is set.
 * @param {string} url
 */
async function statusOf(url) {
  return new Promise((resolve, reject) => {
    get(url, { agent: new Agent() }, (answer) => resolve(answer.resume().statusCode)).on('error', reject)
  })
}

const url = address()
try {
  const status = url === null ? 200 : await statusOf(url)
  if (status !== 200) throw new Error(`HTTP ${status}`)
} catch (error) {
  // Docker keeps what is said here: "docker inspect" shows it.
  process.stderr.write(`${url}: ${/** @type {Error} */ (error).message}\n`)
  process.exitCode = 1
}
