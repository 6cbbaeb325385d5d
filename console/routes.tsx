/** Which page is at which address. */
import type { ComponentType } from 'react'
import { Route, Routes, useLocation } from 'react-router'
import { lazyFrom } from './lib/chunks.ts'
import { HomePage } from './pages/home/home-page.tsx'
import { NotFoundPage } from './pages/not-found.tsx'
import { GoOn } from './parts/go-on.tsx'
import { FormPages } from './parts/may.tsx'

/** The build reads this file for the addresses of each page (vite.config.ts). */
const page = <P,>(load: () => Promise<{ default: ComponentType<P> }>) => lazyFrom(load)('default')

const ProjectsPage = page(() => import('./pages/projects/projects-page.tsx'))
const NewProjectPage = page(() => import('./pages/projects/new-project-page.tsx'))
const ProjectPage = page(() => import('./pages/projects/project-page.tsx'))
const SetupPage = page(() => import('./pages/setup/setup-page.tsx'))
const ReplayPage = page(() => import('./replay/replay-page.tsx'))
const TriggersPage = page(() => import('./pages/triggers/triggers-page.tsx'))
const TriggerPage = page(() => import('./pages/triggers/trigger-page.tsx'))
const IncidentsPage = page(() => import('./pages/incidents/incidents-page.tsx'))
const IncidentPage = page(() => import('./pages/incidents/incident-page.tsx'))
const FindingsPage = page(() => import('./pages/projects/findings-page.tsx'))
const FiringPage = page(() => import('./pages/firings/firing-page.tsx'))
const DeliveriesPage = page(() => import('./pages/deliveries/deliveries-page.tsx'))
const RunsPage = page(() => import('./pages/runs/runs-page.tsx'))
const RunPage = page(() => import('./pages/runs/run-page.tsx'))
const ComparePage = page(() => import('./pages/runs/compare-page.tsx'))
const EventPage = page(() => import('./pages/explore/event-page.tsx'))
const TracesPage = page(() => import('./pages/traces/traces-page.tsx'))
const TracePage = page(() => import('./pages/traces/trace-page.tsx'))
const AgentsPage = page(() => import('./pages/agents/agents-page.tsx'))
const AgentPage = page(() => import('./pages/agents/agent-page.tsx'))
const McpServersPage = page(() => import('./pages/mcp-servers/mcp-servers-page.tsx'))
const McpServerPage = page(() => import('./pages/mcp-servers/mcp-server-page.tsx'))
const SkillsPage = page(() => import('./pages/skills/skills-page.tsx'))
const SkillPage = page(() => import('./pages/skills/skill-page.tsx'))
const EntitiesPage = page(() => import('./pages/entities/entities-page.tsx'))
const EntityPage = page(() => import('./pages/entities/entity-page.tsx'))
const ChangesPage = page(() => import('./pages/changes/changes-page.tsx'))
const SourcesPage = page(() => import('./pages/sources/sources-page.tsx'))
const NewSourcePage = page(() => import('./pages/sources/new-source-page.tsx'))
const SourcePage = page(() => import('./pages/sources/source-page.tsx'))
const AskPage = page(() => import('./pages/ask/ask-page.tsx'))
const ExplorePage = page(() => import('./pages/explore/explore-page.tsx'))
const EvalsPage = page(() => import('./pages/evals/evals-page.tsx'))
const UsagePage = page(() => import('./pages/usage/usage-page.tsx'))
const SettingsPage = page(() => import('./pages/settings/settings-page.tsx'))
const HelpPage = page(() => import('./pages/help/help-page.tsx'))
const ApproveLoginPage = page(() => import('./pages/connect/approve-login-page.tsx'))
const ConsentPage = page(() => import('./pages/connect/consent-page.tsx'))

/**
 * A page that is a tab of another now; an address from before keeps its filters.
 * @param tab null: the first, which an address does not name @param view what its own tabs are called now
 */
function ToTab({ of, tab, view }: { of: string; tab: string | null; view?: string }) {
  const { search } = useLocation()
  const query = new URLSearchParams(search)
  const before = query.get('tab')
  query.delete('tab')
  if (view && before) query.set(view, before)
  if (tab) query.set('tab', tab)
  return <GoOn to={query.size > 0 ? `${of}?${query}` : of} />
}

export function Pages() {
  return (
    <Routes>
      <Route path="/" element={<HomePage />} />
      <Route path="/incidents" element={<IncidentsPage />} />
      <Route path="/incidents/:id" element={<IncidentPage />} />
      <Route path="/findings" element={<FindingsPage />} />
      <Route path="/projects" element={<ProjectsPage />} />
      <Route path="/projects/:id" element={<ProjectPage />} />
      <Route path="/projects/:id/setup" element={<SetupPage />} />
      <Route path="/projects/:id/replay" element={<ReplayPage />} />
      <Route path="/triggers" element={<TriggersPage />} />
      <Route path="/triggers/:name" element={<TriggerPage />} />
      <Route path="/firings" element={<ToTab of="/incidents" tab="firings" />} />
      <Route path="/firings/:id" element={<FiringPage />} />
      <Route path="/deliveries" element={<DeliveriesPage />} />
      <Route path="/runs" element={<RunsPage />} />
      <Route path="/runs/:id" element={<RunPage />} />
      <Route path="/runs/:id/compare" element={<ComparePage />} />
      <Route path="/events/:id" element={<EventPage />} />
      <Route path="/traces" element={<TracesPage />} />
      <Route path="/traces/:id" element={<TracePage />} />
      <Route path="/agents" element={<AgentsPage />} />
      <Route path="/agents/:name" element={<AgentPage />} />
      <Route path="/mcp-servers" element={<McpServersPage />} />
      <Route path="/mcp-servers/:name" element={<McpServerPage />} />
      <Route path="/skills" element={<SkillsPage />} />
      <Route path="/skills/:name" element={<SkillPage />} />
      <Route path="/entities" element={<EntitiesPage />} />
      <Route path="/entities/:name" element={<EntityPage />} />
      <Route path="/catalog-file" element={<ToTab of="/changes" tab="catalog" view="view" />} />
      <Route path="/proposals" element={<ToTab of="/changes" tab={null} />} />
      <Route path="/changes" element={<ChangesPage />} />
      <Route path="/sources" element={<SourcesPage />} />
      <Route path="/sources/:name" element={<SourcePage />} />
      <Route path="/ask/:id?" element={<AskPage />} />
      <Route path="/explore" element={<ExplorePage />} />
      <Route path="/evals" element={<EvalsPage />} />
      <Route path="/usage" element={<UsagePage />} />
      <Route path="/settings" element={<SettingsPage />} />
      <Route path="/keys" element={<ToTab of="/settings" tab={null} />} />
      <Route path="/connect" element={<ToTab of="/settings" tab="agents" />} />
      <Route path="/help" element={<HelpPage />} />
      <Route path="/help/:page" element={<HelpPage />} />
      <Route path="/connect/login" element={<ApproveLoginPage />} />
      <Route path="/oauth/authorize" element={<ConsentPage />} />
      <Route element={<FormPages />}>
        <Route path="/projects/new" element={<NewProjectPage />} />
        <Route path="/triggers/new" element={<TriggerPage />} />
        <Route path="/agents/new" element={<AgentPage />} />
        <Route path="/mcp-servers/new" element={<McpServerPage />} />
        <Route path="/skills/new" element={<SkillPage />} />
        <Route path="/entities/new" element={<EntityPage />} />
        <Route path="/sources/new" element={<NewSourcePage />} />
      </Route>
      <Route path="*" element={<NotFoundPage />} />
    </Routes>
  )
}
