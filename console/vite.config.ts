import { fileURLToPath } from 'node:url'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import { groupsOf } from './chunks.config.ts'

const daemon = process.env.SVCD_URL ?? 'http://127.0.0.1:8787'
const MAIN = fileURLToPath(new URL('main.tsx', import.meta.url))

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  plugins: [react()],
  build: {
    outDir: fileURLToPath(new URL('../dist/console', import.meta.url)),
    emptyOutDir: true,
    manifest: true,
    cssCodeSplit: true,
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 900,
    // The calls of the client are constants: each is put where it is used, not in a chunk for all.
    rolldownOptions: {
      optimization: { inlineConst: { mode: 'all', pass: 2 } },
      output: { codeSplitting: { groups: groupsOf(MAIN) } },
    },
  },
  server: {
    proxy: Object.fromEntries(
      [
        '/api',
        '/read',
        '/remember',
        '/subscribe',
        '/unsubscribe',
        '/health',
        '/ingest',
        '/docs',
        '/openapi.json',
      ].map((path) => [path, daemon]),
    ),
  },
})
