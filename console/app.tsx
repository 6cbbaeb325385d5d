/** Who may see what: the login page when the daemon asks for it, the shell and its pages otherwise. */
import { Center, Loader } from '@mantine/core'
import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { Suspense, useEffect, useState } from 'react'
import { api, LOGIN_NEEDED } from './client.ts'
import { demo, demoKey } from './demo-client.ts'
import { lazyFrom } from './lib/chunks.ts'
import { PageBoundary } from './parts/page-boundary.tsx'
import { PageReady } from './parts/page-ready.tsx'
import { Shell } from './parts/shell.tsx'
import { Pages } from './routes.tsx'

/** Most never see it. */
const LoginPage = lazyFrom(() => import('./areas/seldom.ts'))('LoginPage')

const waiting = (
  <Center h="60vh">
    <Loader role="img" aria-label="Loading" />
  </Center>
)

export function App() {
  const [login, setLogin] = useState<'unknown' | 'needed' | 'fine'>('unknown')
  const [note, setNote] = useState('')
  const queries = useQueryClient()
  useEffect(() => {
    const needed = () => setLogin('needed')
    window.addEventListener(LOGIN_NEEDED, needed)
    void enter(queries, setNote).then((fine) => setLogin(fine ? 'fine' : 'needed'))
    return () => window.removeEventListener(LOGIN_NEEDED, needed)
  }, [queries])
  if (login === 'unknown') return waiting
  if (login === 'needed')
    return (
      <PageBoundary>
        <Suspense fallback={waiting}>
          <LoginPage
            note={note}
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
    await Promise.all([
      // Kept: pages that say who is there need not ask again.
      queries.fetchQuery({ queryKey: ['whoami'], queryFn: api.whoami, staleTime: 60_000 }),
      // Known before anything is drawn, so that its bar moves no page; without an answer there is none.
      queries.prefetchQuery({ queryKey: demoKey, queryFn: demo.status, retry: false }),
    ])
    return true
  } catch (error) {
    // Any other fault shows on the page it concerns.
    return (error as { status?: number }).status !== 401
  }
}
