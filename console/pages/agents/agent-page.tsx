/** One agent: what wakes it and what it costs, its runs, what it would be told; to change, or to make. */
import { Tabs } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Suspense, useState } from 'react'
import { useLocation, useNavigate, useParams, useSearchParams } from 'react-router'
import type { Agent } from '../../../schemas/types.ts'
import { declared, dkeys } from '../../declared-client.ts'
import { draftOf, NEW_AGENT, proposedAgent } from '../../lib/agent-form.ts'
import { lazyFrom } from '../../lib/chunks.ts'
import { readRunFilter, withFilter } from '../../lib/run-filters.ts'
import { warningsIn } from '../../lib/use-change.ts'
import { useShown } from '../../lib/use-shown.ts'
import { useTab } from '../../lib/use-tab.ts'
import { ChangeHistory } from '../../parts/change-history.tsx'
import { DeletePart } from '../../parts/delete-part.tsx'
import { PageHead } from '../../parts/page.tsx'
import { TabRow } from '../../parts/page-tabs.tsx'
import { Failed, LoadingRows } from '../../parts/states.tsx'
import { StandingWarnings, savedState } from '../../parts/warnings.tsx'
import { RunList } from '../runs/run-list.tsx'
import { AgentOverview } from './agent-overview.tsx'
import { AgentPreview } from './agent-preview.tsx'
import { AgentTests } from './agent-tests.tsx'
import { AgentSwitch } from './agents-page.tsx'

const AgentEditor = lazyFrom(() => import('./agent-editor.tsx'))('AgentEditor')

const TABS = [
  { value: 'overview', label: 'Overview' },
  { value: 'runs', label: 'Runs' },
  { value: 'edit', label: 'Edit' },
  { value: 'preview', label: 'Preview' },
  { value: 'tests', label: 'Tests' },
  { value: 'history', label: 'History' },
]

export default function AgentPage() {
  const { name } = useParams()
  return name === undefined ? <NewAgent /> : <ExistingAgent key={name} name={name} />
}

function NewAgent() {
  const [query] = useSearchParams()
  const project = query.get('project') ?? undefined
  const proposed = proposedAgent(useLocation().state)
  const go = useNavigate()
  return (
    <>
      <PageHead title="Add agent" />
      <Suspense fallback={<LoadingRows />}>
        <AgentEditor
          isProposed={Object.keys(proposed).length > 0}
          start={{ ...NEW_AGENT, ...proposed }}
          save={(body) => declared.createAgent({ ...body, ...(project ? { project } : {}) })}
          onSaved={(result) =>
            void go(
              project ? `/projects/${project}` : `/agents/${encodeURIComponent(result.name)}`,
              savedState(result),
            )
          }
          label="Add agent"
        />
      </Suspense>
    </>
  )
}

function ExistingAgent({ name }: { name: string }) {
  const go = useNavigate()
  const [address, setAddress] = useSearchParams()
  const [tab, goTo] = useTab(TABS)
  const { data, error, refetch } = useQuery({
    queryKey: dkeys.agent(name),
    queryFn: () => declared.agent(name),
    refetchInterval: 15_000,
  })
  if (error || !data)
    return (
      <>
        <PageHead title={name} />
        {error ? <Failed what="the agent" error={error} onRetry={() => void refetch()} /> : <LoadingRows />}
      </>
    )
  const { query, offset } = readRunFilter(address)
  return (
    <>
      <PageHead title={name}>
        <AgentSwitch agent={data} label="On" />
        <DeletePart
          kind="agent"
          name={name}
          remove={declared.deleteAgent}
          onDone={() => void go('/agents')}
        />
      </PageHead>
      <StandingWarnings of={data.warnings} />
      <Tabs value={tab} onChange={goTo} keepMounted={false}>
        <TabRow tabs={TABS} chosen={tab} />
        <Tabs.Panel value="overview">
          <AgentOverview agent={data} />
        </Tabs.Panel>
        <Tabs.Panel value="runs">
          <RunList
            query={{ ...(query.status ? { status: query.status } : {}), agent: name }}
            offset={offset}
            onOffset={(to) => setAddress((now) => withFilter(now, 'offset', String(to)))}
            without="agent"
          />
        </Tabs.Panel>
        <Tabs.Panel value="edit">
          <Suspense fallback={<LoadingRows />}>
            <Edit agent={data} refetch={refetch} />
          </Suspense>
        </Tabs.Panel>
        <Tabs.Panel value="preview">
          <AgentPreview agent={data} />
        </Tabs.Panel>
        <Tabs.Panel value="tests">
          <AgentTests agent={name} />
        </Tabs.Panel>
        <Tabs.Panel value="history">
          <ChangeHistory about={{ kind: 'agent', name }} />
        </Tabs.Panel>
      </Tabs>
    </>
  )
}

/** The form keeps what it was filled from, whatever others save meanwhile. */
function Edit({ agent, refetch }: { agent: Agent; refetch: () => Promise<{ data: Agent | undefined }> }) {
  const { shown, round, reload } = useShown(agent, refetch, 'agent')
  const [warnings, setWarnings] = useState<string[]>([])
  if (!shown) return <LoadingRows />
  return (
    <AgentEditor
      key={round}
      start={draftOf(shown)}
      stored={shown}
      warnings={warnings}
      onSaved={(result) => {
        setWarnings(warningsIn(result))
        void reload()
      }}
      onTakeTheirs={() => void reload()}
      save={(body, version) => declared.updateAgent(shown.name, body, version)}
      label="Save"
    />
  )
}
