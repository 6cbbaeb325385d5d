/** A real PostgreSQL in a folder of its own, on a port of loopback; null where the machine has none. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { createInterface } from 'node:readline'
import pg from 'pg'

export const PASSWORD = 'p@ss/word'

export interface PostgresServer {
  port: number
  /** Connection URL. @param user other than the superuser */
  dsn(user?: string, database?: string): string
  /** A connection of its own, to write with; closed with the server. */
  client(): Promise<pg.Client>
  stop(): Promise<void>
}

/** The folder of PostgreSQL's programs; null: there is none. */
export function postgresPrograms(): string | null {
  const packaged = '/usr/lib/postgresql'
  const versions = existsSync(packaged) ? readdirSync(packaged).sort((a, b) => Number(b) - Number(a)) : []
  const folders = [
    ...(process.env.PATH ?? '').split(delimiter),
    ...versions.map((version) => join(packaged, version, 'bin')),
  ]
  return (
    folders.find((folder) => existsSync(join(folder, 'initdb')) && existsSync(join(folder, 'postgres'))) ??
    null
  )
}

/** Takes about two seconds. PostgreSQL refuses to run as root, so there another user is taken. */
export async function startPostgres(programs: string): Promise<PostgresServer> {
  const as = process.getuid?.() === 0 ? unprivileged() : {}
  const folder = mkdtempSync(join(tmpdir(), 'postgres-'))
  const passwords = join(folder, 'password')
  writeFileSync(passwords, PASSWORD)
  if (as.uid !== undefined) for (const path of [folder, passwords]) chownSync(path, as.uid, as.gid!)
  const store = join(folder, 'store')
  const options = ['-U', 'owner', '-A', 'scram-sha-256', '--pwfile', passwords, '-E', 'UTF8', '--no-sync']
  execFileSync(join(programs, 'initdb'), ['-D', store, '--locale=C', ...options], {
    ...as,
    cwd: folder,
    stdio: 'pipe',
  })
  const settings = ['listen_addresses=127.0.0.1', 'fsync=off', `unix_socket_directories=${folder}`]
  const begin = async (tries: number): Promise<{ child: ChildProcess; port: number }> => {
    const port = await freePort()
    const child = spawn(
      join(programs, 'postgres'),
      ['-D', store, '-p', String(port), ...settings.flatMap((setting) => ['-c', setting])],
      { ...as, cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] },
    )
    try {
      await ready(child)
    } catch (error) {
      // It cannot choose a port itself, and another process may take one that was free.
      if (tries > 1 && /could not create any TCP\/IP sockets/.test(String(error))) return begin(tries - 1)
      throw error
    }
    return { child, port }
  }
  const { child, port } = await begin(5)
  const clients: pg.Client[] = []
  return {
    port,
    dsn: (user = 'owner', database = 'postgres') =>
      `postgresql://${user}:${encodeURIComponent(PASSWORD)}@127.0.0.1:${port}/${database}`,
    async client() {
      const client = new pg.Client({
        host: '127.0.0.1',
        port,
        user: 'owner',
        password: PASSWORD,
        database: 'postgres',
      })
      client.on('error', () => {})
      await client.connect()
      clients.push(client)
      return client
    },
    async stop() {
      await Promise.all(clients.map((client) => client.end()))
      child.kill('SIGINT')
      if (child.exitCode === null) await once(child, 'exit')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function unprivileged(): { uid?: number; gid?: number } {
  for (const name of ['postgres', 'nobody']) {
    try {
      const id = (flag: string) =>
        Number(execFileSync('id', [flag, name], { encoding: 'utf8', stdio: 'pipe' }))
      return { uid: id('-u'), gid: id('-g') }
    } catch {
      // Not a user here; the next one is tried.
    }
  }
  throw new Error('there is no user postgres or nobody to run PostgreSQL as')
}

function ready(child: ChildProcess): Promise<void> {
  const said: string[] = []
  return new Promise((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`PostgreSQL ended with ${code}: ${said.join('\n')}`)))
    createInterface({ input: child.stderr! }).on('line', (line) => {
      said.push(line)
      if (line.includes('ready to accept connections')) resolve()
    })
  })
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
