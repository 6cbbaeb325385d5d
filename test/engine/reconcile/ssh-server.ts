/** A host of repositories on loopback over SSH, by ssh2: whoever has one of its keys may read what git asks for there. */
import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import ssh2 from 'ssh2'

export interface SshServer {
  /** Of a repository by its file name: `ssh://git@127.0.0.1:PORT/NAME`. */
  address(name: string): string
  /** Public keys in the form of authorized_keys. */
  keys: Set<string>
  /** Commands that were run. */
  ran: string[]
  /** Ends it and begins again at the same port with another key of the host. */
  restart(): Promise<void>
  close(): Promise<void>
}

/**
 * A key by ssh-keygen: one in two hundred of those that ssh2 makes begins with a zero byte which it leaves out, and ssh
 * reads it as no key at all (ssh2 1.17, 3 of 600).
 * @param folder in which its file is made, of the owner alone
 */
export function makeKey(folder: string, name: string): { file: string; private: string; public: string } {
  const file = join(folder, `${name} key`)
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', name, '-f', file])
  return { file, private: readFileSync(file, 'utf8'), public: readFileSync(`${file}.pub`, 'utf8') }
}

/** @param root folder of bare repositories */
export async function sshServer(root: string): Promise<SshServer> {
  const keys = new Set<string>()
  const ran: string[] = []
  const clients = new Set<ssh2.Connection>()
  const listen = async (port: number) => {
    const server = new ssh2.Server(
      { hostKeys: [makeKey(mkdtempSync(join(root, 'host-')), 'host').private] },
      (client) => {
        clients.add(client)
        client.on('close', () => clients.delete(client)).on('error', () => clients.delete(client))
        client.on('authentication', (attempt) => {
          const known = [...keys].map((text) => ssh2.utils.parseKey(text) as ssh2.ParsedKey)
          const key =
            attempt.method === 'publickey' && known.find((one) => one.getPublicSSH().equals(attempt.key.data))
          if (!key || attempt.method !== 'publickey') return attempt.reject(['publickey'])
          // Without a signature it only asks whether the key would do (RFC 4252, 7).
          if (attempt.signature && !key.verify(attempt.blob!, attempt.signature, attempt.hashAlgo))
            return attempt.reject(['publickey'])
          attempt.accept()
        })
        client.on('session', (accept) => {
          const session = accept()
          session.on('env', (acceptEnv) => acceptEnv?.())
          session.on('exec', (acceptExec, _reject, { command }) => {
            ran.push(command)
            const stream = acceptExec()
            const path = /^git-upload-pack '\/?([\w.-]+)'$/.exec(command)?.[1]
            if (path === undefined) {
              stream.exit(128)
              return void stream.end()
            }
            const git = spawn('git', ['upload-pack', join(root, path)], { stdio: ['pipe', 'pipe', 'pipe'] })
            stream.pipe(git.stdin)
            git.stdin.on('error', () => {})
            git.stdout.pipe(stream, { end: false })
            git.stderr.pipe(stream.stderr, { end: false })
            git.on('close', (code) => {
              stream.exit(code ?? 1)
              stream.end()
            })
          })
        })
      },
    )
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
    return server
  }
  let server = await listen(0)
  const { port } = server.address() as AddressInfo
  const close = async () => {
    for (const client of clients) client.end()
    await new Promise<void>((resolve) => server.close(() => resolve()))
  }
  return {
    ...{ keys, ran, close },
    address: (name) => `ssh://git@127.0.0.1:${port}/${name}`,
    restart: async () => {
      await close()
      server = await listen(port)
    },
  }
}
