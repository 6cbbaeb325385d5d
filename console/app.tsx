/** Who may see what: the login page when the daemon asks for it, the shell and its pages otherwise. */
import { Center, Loader } from '@mantine/core'
import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { Suspense, startTransition, useEffect, useState } from 'react'
import { type ApiError, api, LOGIN_NEEDED } from './client.ts'
import { ikeys, incidents } from './incident-client.ts'
import { lazyFrom } from './lib/chunks.ts'
import { forgetFirstReads } from './lib/first-reads.ts'
import { PageBoundary } from './parts/page-boundary.tsx'
import { PageReady } from './parts/page-ready.tsx'
import { Shell } from './parts/shell.tsx'
import { Pages } from './routes.tsx'

const WHOAMI = ['whoami']

/** A page waits so long for what Home says, milliseconds. */
const HOME_WAIT_MS = 2_000

/** Most never see it. */
const LoginPage = lazyFrom(() => import('./pages/login/login-page.tsx'))('LoginPage')

const waiting = (
  <Center h="60vh">
    <Loader role="img" aria-label="Loading" />
  </Center>
)

export function App() {
  const [login, setLogin] = useState<'unknown' | 'needed' | 'ended' | 'fine'>('unknown')
  const [note, setNote] = useState('')
  const queries = useQueryClient()
  useEffect(() => {
    const needed = () => setLogin((was) => (was === 'fine' || was === 'ended' ? 'ended' : 'needed'))
    window.addEventListener(LOGIN_NEEDED, needed)
    // Drawn in slices: menu and page at once are 90 ms of work, and what is pressed meanwhile would wait (2026-11-26).
    void enter(queries, setNote).then((fine) => startTransition(() => setLogin(fine ? 'fine' : 'needed')))
    return () => window.removeEventListener(LOGIN_NEEDED, needed)
  }, [queries])
  if (login === 'unknown') return waiting
  if (login !== 'fine')
    return (
      <PageBoundary>
        <Suspense fallback={waiting}>
          <LoginPage
            note={note}
            isEnded={login === 'ended'}
            onDone={() => {
              void queries.resetQueries()
              setLogin('fine')
            }}
          />
        </Suspense>
      </PageBoundary>
    )
  return (
    <Shell>
      <PageBoundary>
        <Suspense fallback={waiting}>
          <Pages />
          <PageReady />
        </Suspense>
      </PageBoundary>
    </Shell>
  )
}

/** Exchanges `?token=` for a cookie and takes it out of the address; then asks who we are. */
async function enter(queries: QueryClient, setNote: (note: string) => void): Promise<boolean> {
  const address = new URL(window.location.href)
  const token = address.searchParams.get('token')
  if (token) {
    address.searchParams.delete('token')
    window.history.replaceState(null, '', address)
    await api.login(token).catch((error: Error) => setNote(error.message))
  }
  try {
    const home = await Promise.race([
      // Whether the demo is there is known before anything is drawn, so that its bar moves no page.
      queries
        .fetchQuery({ queryKey: ikeys.home(null), queryFn: () => incidents.home(), retry: false })
        .catch((error: ApiError) => error),
      new Promise<null>((resolve) => setTimeout(() => resolve(null), HOME_WAIT_MS)),
    ])
    if (home instanceof Error && home.status === 401) throw home
    // Kept: pages that say who is there need not ask again. Not every key may see Home.
    if (home && !(home instanceof Error)) queries.setQueryData(WHOAMI, home.caller)
    else await queries.fetchQuery({ queryKey: WHOAMI, queryFn: api.whoami, staleTime: 60_000 })
    return true
  } catch (error) {
    const isNeeded = (error as { status?: number }).status === 401
    if (isNeeded) forgetFirstReads()
    // Any other fault shows on the page it concerns.
    return !isNeeded
  }
}
