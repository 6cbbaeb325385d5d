/** Who may see what: the login page when the daemon asks for it, the shell and its pages otherwise. */
import { Center, Loader } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { lazy, Suspense, useEffect, useState } from 'react'
import { Navigate, Route, Routes } from 'react-router'
import { api, LOGIN_NEEDED } from './client.ts'
import { NotFoundPage } from './pages/not-found.tsx'
import { PageReady } from './parts/page-ready.tsx'
import { Shell } from './parts/shell.tsx'

const ProjectsPage = lazy(() => import('./pages/projects/projects-page.tsx'))
const NewProjectPage = lazy(() => import('./pages/projects/new-project-page.tsx'))
const ProjectPage = lazy(() => import('./pages/projects/project-page.tsx'))
const SetupPage = lazy(() => import('./pages/setup/setup-page.tsx'))
const ReplayPage = lazy(() => import('./replay/replay-page.tsx'))
const TriggersPage = lazy(() => import('./pages/triggers/triggers-page.tsx'))
const TriggerPage = lazy(() => import('./pages/triggers/trigger-page.tsx'))
const FiringsPage = lazy(() => import('./pages/firings/firings-page.tsx'))
const FiringPage = lazy(() => import('./pages/firings/firing-page.tsx'))
const DeliveriesPage = lazy(() => import('./pages/deliveries/deliveries-page.tsx'))
const RunsPage = lazy(() => import('./pages/runs/runs-page.tsx'))
const RunPage = lazy(() => import('./pages/runs/run-page.tsx'))
const ComparePage = lazy(() => import('./pages/runs/compare-page.tsx'))
const EventPage = lazy(() => import('./pages/explore/event-page.tsx'))
const AgentsPage = lazy(() => import('./pages/agents/agents-page.tsx'))
const AgentPage = lazy(() => import('./pages/agents/agent-page.tsx'))
const McpServersPage = lazy(() => import('./pages/mcp-servers/mcp-servers-page.tsx'))
const McpServerPage = lazy(() => import('./pages/mcp-servers/mcp-server-page.tsx'))
const SkillsPage = lazy(() => import('./pages/skills/skills-page.tsx'))
const SkillPage = lazy(() => import('./pages/skills/skill-page.tsx'))
const CatalogPage = lazy(() => import('./pages/catalog/catalog-page.tsx'))
const ChangesPage = lazy(() => import('./pages/changes/changes-page.tsx'))
const ProposalsPage = lazy(() => import('./pages/proposals/proposals-page.tsx'))
const SourcesPage = lazy(() => import('./pages/sources/sources-page.tsx'))
const NewSourcePage = lazy(() => import('./pages/sources/new-source-page.tsx'))
const SourcePage = lazy(() => import('./pages/sources/source-page.tsx'))
const AskPage = lazy(() => import('./pages/ask/ask-page.tsx'))
const ExplorePage = lazy(() => import('./pages/explore/explore-page.tsx'))
const EvalsPage = lazy(() => import('./pages/evals/evals-page.tsx'))
const UsagePage = lazy(() => import('./pages/usage/usage-page.tsx'))
const SettingsPage = lazy(() => import('./pages/settings/settings-page.tsx'))
const KeysPage = lazy(() => import('./pages/keys/keys-page.tsx'))
const ConnectPage = lazy(() => import('./pages/connect/connect-page.tsx'))
const ApproveLoginPage = lazy(() => import('./pages/connect/approve-login-page.tsx'))
const LoginPage = lazy(() => import('./pages/login/login-page.tsx'))

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
    void enter(setNote).then((fine) => setLogin(fine ? 'fine' : 'needed'))
    return () => window.removeEventListener(LOGIN_NEEDED, needed)
  }, [])
  if (login === 'unknown') return waiting
  if (login === 'needed')
    return (
      <Suspense fallback={waiting}>
        <LoginPage
          note={note}
          onDone={() => {
            void queries.resetQueries()
            setLogin('fine')
          }}
        />
      </Suspense>
    )
  return (
    <Shell>
      <Suspense fallback={waiting}>
        <Routes>
          <Route path="/" element={<Navigate to="/sources" replace />} />
          <Route path="/projects" element={<ProjectsPage />} />
          <Route path="/projects/new" element={<NewProjectPage />} />
          <Route path="/projects/:id" element={<ProjectPage />} />
          <Route path="/projects/:id/setup" element={<SetupPage />} />
          <Route path="/projects/:id/replay" element={<ReplayPage />} />
          <Route path="/triggers" element={<TriggersPage />} />
          <Route path="/triggers/new" element={<TriggerPage />} />
          <Route path="/triggers/:name" element={<TriggerPage />} />
          <Route path="/firings" element={<FiringsPage />} />
          <Route path="/firings/:id" element={<FiringPage />} />
          <Route path="/deliveries" element={<DeliveriesPage />} />
          <Route path="/runs" element={<RunsPage />} />
          <Route path="/runs/:id" element={<RunPage />} />
          <Route path="/runs/:id/compare" element={<ComparePage />} />
          <Route path="/events/:id" element={<EventPage />} />
          <Route path="/agents" element={<AgentsPage />} />
          <Route path="/agents/new" element={<AgentPage />} />
          <Route path="/agents/:name" element={<AgentPage />} />
          <Route path="/mcp-servers" element={<McpServersPage />} />
          <Route path="/mcp-servers/new" element={<McpServerPage />} />
          <Route path="/mcp-servers/:name" element={<McpServerPage />} />
          <Route path="/skills" element={<SkillsPage />} />
          <Route path="/skills/new" element={<SkillPage />} />
          <Route path="/skills/:name" element={<SkillPage />} />
          <Route path="/catalog-file" element={<CatalogPage />} />
          <Route path="/proposals" element={<ProposalsPage />} />
          <Route path="/changes" element={<ChangesPage />} />
          <Route path="/sources" element={<SourcesPage />} />
          <Route path="/sources/new" element={<NewSourcePage />} />
          <Route path="/sources/:name" element={<SourcePage />} />
          <Route path="/ask/:id?" element={<AskPage />} />
          <Route path="/explore" element={<ExplorePage />} />
          <Route path="/evals" element={<EvalsPage />} />
          <Route path="/usage" element={<UsagePage />} />
          <Route path="/settings" element={<SettingsPage />} />
          <Route path="/keys" element={<KeysPage />} />
          <Route path="/connect" element={<ConnectPage />} />
          <Route path="/connect/login" element={<ApproveLoginPage />} />
          <Route path="*" element={<NotFoundPage />} />
        </Routes>
        <PageReady />
      </Suspense>
    </Shell>
  )
}

/** Exchanges `?token=` for a cookie and takes it out of the address; then asks who we are. */
async function enter(setNote: (note: string) => void): Promise<boolean> {
  const address = new URL(window.location.href)
  const token = address.searchParams.get('token')
  if (token) {
    address.searchParams.delete('token')
    window.history.replaceState(null, '', address)
    await api.login(token).catch((error: Error) => setNote(error.message))
  }
  try {
    await api.whoami()
    return true
  } catch (error) {
    // Any other fault shows on the page it concerns.
    return (error as { status?: number }).status !== 401
  }
}
