import '@mantine/core/styles.css'
import '@mantine/notifications/styles.css'
import './styles/app.css'
import './styles/home.css'
import './styles/incidents.css'
import './styles/runs.css'
import './styles/sources.css'
import './styles/setup.css'
import { createTheme, DEFAULT_THEME, type MantineColorsTuple, MantineProvider } from '@mantine/core'
import { Notifications } from '@mantine/notifications'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { BrowserRouter } from 'react-router'
import { App } from './app.tsx'
import { ApiError } from './client.ts'
import { closeInnermostOnEscape } from './lib/escape.ts'
import { PageBoundary } from './parts/page-boundary.tsx'
import { paletteDoor } from './parts/palette-door.ts'

const CLOSE = { 'aria-label': 'Close' }

/** Words on what is filled with red are read: the shade of its buttons is as dark as the darkest. */
// `with` forgets that there are ten.
const RED = DEFAULT_THEME.colors.red.with(7, DEFAULT_THEME.colors.red[9]) as unknown as MantineColorsTuple

const theme = createTheme({
  colors: { red: RED },
  primaryColor: 'indigo',
  primaryShade: { light: 7, dark: 7 },
  autoContrast: true,
  defaultRadius: 'md',
  cursorType: 'pointer',
  fontFamily:
    'ui-sans-serif, system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Liberation Sans", Arial, sans-serif',
  fontFamilyMonospace: 'ui-monospace, "SF Mono", Menlo, Consolas, "Liberation Mono", monospace',
  components: {
    // The head of a dialog or a drawer is no banner of the page, and what closes it says so.
    ModalHeader: { defaultProps: { role: 'presentation' } },
    DrawerHeader: { defaultProps: { role: 'presentation' } },
    Modal: { defaultProps: { closeButtonProps: CLOSE } },
    Drawer: { defaultProps: { closeButtonProps: CLOSE } },
    Notification: { defaultProps: { closeButtonProps: CLOSE } },
  },
  headings: { fontWeight: '650', sizes: { h1: { fontSize: '1.45rem' }, h2: { fontSize: '1.1rem' } } },
})

/** As the banner says that it is tried again, milliseconds. */
const RETRY_MS = 5_000

const queries = new QueryClient({
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

createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <MantineProvider theme={theme} defaultColorScheme="auto">
      <QueryClientProvider client={queries}>
        <Notifications position="bottom-right" />
        <BrowserRouter>
          <PageBoundary>
            <App />
          </PageBoundary>
        </BrowserRouter>
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
)
