import '@mantine/core/styles.css'
import '@mantine/spotlight/styles.css'
import './styles/tokens.css'
import './styles/app.css'
import './styles/focus.css'
import './styles/ask.css'
import './styles/rows.css'
import './styles/timeline.css'
import './styles/evals.css'
import './styles/help.css'
import './styles/home.css'
import './styles/incidents.css'
import './styles/runs.css'
import './styles/sources.css'
import './styles/setup.css'
import './styles/traces.css'
import './styles/triggers.css'
import '@xyflow/react/dist/base.css'
import './styles/graph.css'
import './styles/graph-nodes.css'
import './styles/graph-edges.css'
import './styles/editor.css'
import './styles/replay.css'
import './styles/forced-colors.css'
import './styles/print.css'
import { MantineProvider } from '@mantine/core'
import { QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { BrowserRouter } from 'react-router'
import { App } from './app.tsx'
import { ApiError } from './client.ts'
import { loadAhead } from './lib/ahead.ts'
import { closeInnermostOnEscape } from './lib/escape.ts'
import { leadToFirstFault } from './lib/first-fault.ts'
import { keepFocus } from './lib/keep-focus.ts'
import { keepShown, RETRY_MS } from './lib/keep-shown.ts'
import { printLight } from './lib/print-light.ts'
import { Notices } from './parts/notices.tsx'
import { PageBoundary } from './parts/page-boundary.tsx'
import { paletteDoor } from './parts/palette-door.ts'
import { theme } from './theme.ts'

const queries = new QueryClient({
  queryCache: new QueryCache({ onError: keepShown }),
  defaultOptions: {
    queries: {
      // A machine without a network reaches its own daemon all the same: what browsers call offline stops nothing.
      networkMode: 'always',
      staleTime: 5_000,
      refetchOnWindowFocus: true,
      // A refusal stays a refusal; a daemon that does not answer is asked until it does, and what it told last stays.
      retry: (_failures, error) => error instanceof ApiError && error.status === 0,
      retryDelay: RETRY_MS,
    },
    mutations: { networkMode: 'always' },
  },
})

closeInnermostOnEscape(paletteDoor.close)
keepFocus()
leadToFirstFault()
printLight()
loadAhead()

createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <MantineProvider theme={theme} defaultColorScheme="auto">
      <QueryClientProvider client={queries}>
        <Notices />
        <BrowserRouter>
          <PageBoundary>
            <App />
          </PageBoundary>
        </BrowserRouter>
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
)
