#!/usr/bin/env node
// The command, once it is built. Node built-ins only, so that this message can be given.
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { launch, RuntimeError } from './runtime.mjs'

const built = fileURLToPath(new URL('../dist/svc.mjs', import.meta.url))
try {
  if (!existsSync(built)) throw new RuntimeError('not built yet; run: npm run setup')
  const args = process.argv.slice(2)
  await launch(built, args, { isDaemon: args.find((arg) => !arg.startsWith('-')) === 'up' })
} catch (error) {
  if (!(error instanceof RuntimeError)) throw error
  process.stderr.write(`svc: ${error.message}\n`)
  process.exitCode = 1
}
