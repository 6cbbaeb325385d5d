/** Which page is at which address. */
import { Route, Routes, useLocation } from 'react-router'
import { lazyFrom } from './lib/chunks.ts'
import { HomePage } from './pages/home/home-page.tsx'
import { NotFoundPage } from './pages/not-found.tsx'
import { GoOn } from './parts/go-on.tsx'

const incidents = lazyFrom(() => import('./areas/incidents.ts'))
const looks = lazyFrom(() => import('./areas/looks.ts'))
const traced = lazyFrom(() => import('./areas/traced.ts'))
const parts = lazyFrom(() => import('./areas/parts.ts'))
const projects = lazyFrom(() => import('./areas/projects.ts'))
const replayed = lazyFrom(() => import('./areas/replayed.ts'))
const keeping = lazyFrom(() => import('./areas/keeping.ts'))
const forms = lazyFrom(() => import('./areas/forms.ts'))
const settings = lazyFrom(() => import('./areas/settings.ts'))
const asking = lazyFrom(() => import('./areas/asking.ts'))

const ProjectsPage = projects('ProjectsPage')
const NewProjectPage = settings('NewProjectPage')
const ProjectPage = projects('ProjectPage')
const SetupPage = settings('SetupPage')
const ReplayPage = replayed('ReplayPage')
const TriggersPage = parts('TriggersPage')
const TriggerPage = parts('TriggerPage')
const IncidentsPage = incidents('IncidentsPage')
const IncidentPage = incidents('IncidentPage')
const FindingsPage = projects('FindingsPage')
const FiringPage = incidents('FiringPage')
const DeliveriesPage = incidents('DeliveriesPage')
const RunsPage = looks('RunsPage')
const RunPage = looks('RunPage')
const ComparePage = looks('ComparePage')
const EventPage = incidents('EventPage')
const TracesPage = traced('TracesPage')
const TracePage = traced('TracePage')
const AgentsPage = parts('AgentsPage')
const AgentPage = parts('AgentPage')
const McpServersPage = parts('McpServersPage')
const McpServerPage = parts('McpServerPage')
const SkillsPage = parts('SkillsPage')
const SkillPage = parts('SkillPage')
const EntitiesPage = parts('EntitiesPage')
const EntityPage = parts('EntityPage')
const ChangesPage = keeping('ChangesPage')
const SourcesPage = projects('SourcesPage')
const NewSourcePage = forms('NewSourcePage')
const SourcePage = projects('SourcePage')
const AskPage = asking('AskPage')
const ExplorePage = looks('ExplorePage')
const EvalsPage = keeping('EvalsPage')
const UsagePage = looks('UsagePage')
const SettingsPage = settings('SettingsPage')
const HelpPage = keeping('HelpPage')
const ApproveLoginPage = settings('ApproveLoginPage')
const ConsentPage = settings('ConsentPage')

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
      <Route path="/projects/new" element={<NewProjectPage />} />
      <Route path="/projects/:id" element={<ProjectPage />} />
      <Route path="/projects/:id/setup" element={<SetupPage />} />
      <Route path="/projects/:id/replay" element={<ReplayPage />} />
      <Route path="/triggers" element={<TriggersPage />} />
      <Route path="/triggers/new" element={<TriggerPage />} />
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
      <Route path="/agents/new" element={<AgentPage />} />
      <Route path="/agents/:name" element={<AgentPage />} />
      <Route path="/mcp-servers" element={<McpServersPage />} />
      <Route path="/mcp-servers/new" element={<McpServerPage />} />
      <Route path="/mcp-servers/:name" element={<McpServerPage />} />
      <Route path="/skills" element={<SkillsPage />} />
      <Route path="/skills/new" element={<SkillPage />} />
      <Route path="/skills/:name" element={<SkillPage />} />
      <Route path="/entities" element={<EntitiesPage />} />
      <Route path="/entities/new" element={<EntityPage />} />
      <Route path="/entities/:name" element={<EntityPage />} />
      <Route path="/catalog-file" element={<ToTab of="/changes" tab="catalog" view="view" />} />
      <Route path="/proposals" element={<ToTab of="/changes" tab={null} />} />
      <Route path="/changes" element={<ChangesPage />} />
      <Route path="/sources" element={<SourcesPage />} />
      <Route path="/sources/new" element={<NewSourcePage />} />
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
      <Route path="*" element={<NotFoundPage />} />
    </Routes>
  )
}
