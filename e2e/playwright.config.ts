import { fileURLToPath } from 'node:url'
import { defineConfig } from '@playwright/test'

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url))

export default defineConfig({
  testDir: here('.'),
  outputDir: here('../test-results/e2e'),
  // Each test has a daemon and a folder of its own, but for files whose tests share one and run in their order.
  fullyParallel: true,
  // On two processors, too: two workers leave them idle for a third of the time, as most of a test is waiting for the
  // next poll of a page (2026-11-26), and four gain nothing on three. Beside the unit tests, two workers each, all took
  // 776 s, one after the other 690 s.
  workers: 3,
  // A test that fails is mended, never tried again into green.
  retries: 0,
  // Ends what hangs; how fast a machine is must not decide a test.
  timeout: 600_000,
  expect: { timeout: 60_000 },
  use: {
    actionTimeout: 60_000,
    viewport: { width: 1440, height: 900 },
    // What moves is drawn sixty times a second; those that are about motion ask for it.
    contextOptions: { reducedMotion: 'reduce' },
    // A trace of every test took two fifths of the time (2026-11-22); `--trace retain-on-failure` makes one.
    trace: 'off',
    // `daemon.ts` takes a picture of what fails: told to, Playwright takes one of each page that is closed, 212 of them
    // in tests that pass.
    screenshot: 'off',
    launchOptions: {
      ...(process.env.SVC_TEST_BROWSER ? { executablePath: process.env.SVC_TEST_BROWSER } : {}),
      args: [
        '--no-sandbox',
        '--disable-gpu',
        '--disable-quic',
        '--no-first-run',
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-sync',
        // A page of a test ends before what V8 optimizes is worth its compilers: they took a fifth of the processor time
        // of a page, and no script ran longer without them (39 s became 31 s over ten tests, 2026-11-28).
        '--js-flags=--no-turbofan --no-maglev',
      ],
    },
  },
})
