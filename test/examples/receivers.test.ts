/** The example receivers, run as they are written, with the signatures of real deliveries. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { newSecret, signatureHeaders } from '../../engine/outbox/send-webhook.ts'

const path = (name: string) => fileURLToPath(new URL(`../../examples/${name}`, import.meta.url))
const RECEIVERS: [name: string, command: string, args: string[]][] = [
  ['receiver.ts', process.execPath, ['--experimental-strip-types', '--no-warnings', path('receiver.ts')]],
  ['receiver.py', 'python3', [path('receiver.py')]],
]

/** A machine with Node alone runs those of them that it can. */
const isThere = (command: string): boolean => spawnSync(command, ['--version']).error === undefined

describe.each(RECEIVERS)('examples/%s', (_name, command, args) => {
  it.skipIf(!isThere(command))(
    'takes what svc signed, and refuses what is signed otherwise, changed or old',
    async () => {
      const secret = newSecret()
      const child = spawn(command, [...args, '0', secret], { stdio: ['ignore', 'pipe', 'inherit'] })
      onTestFinished(async () => {
        child.kill('SIGTERM')
        if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
      })
      const said: string[] = []
      const lines = createInterface({ input: child.stdout })
      lines.on('line', (line) => said.push(line))
      await once(lines, 'line')
      const { port } = JSON.parse(said[0]!.slice('listening '.length)) as { port: number }
      const post = async (body: string, headers: Record<string, string>) =>
        (await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body, headers })).status
      const body = JSON.stringify({ reason: '5 errors in 10 min, above 4' })
      const now = Date.now()
      expect(await post(body, signatureHeaders('d_1', now, body, secret))).toBe(204)
      expect(await post(body, signatureHeaders('d_1', now, body, newSecret()))).toBe(401)
      expect(await post(`${body} `, signatureHeaders('d_1', now, body, secret))).toBe(401)
      expect(await post(body, signatureHeaders('d_1', now - 600_000, body, secret))).toBe(401)
      expect(await post(body, signatureHeaders('d_1', now, body, null))).toBe(401)
      expect(said.slice(1)).toEqual(['5 errors in 10 min, above 4'])
    },
  )
})
