/** One trigger: what it waits for, what it did and why not, whom it tells; to change, or to make. */

import { Alert, Button, Tabs } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Suspense, useState } from 'react'
import { useLocation, useNavigate, useParams, useSearchParams } from 'react-router'
import type { FieldsOf } from '../../../schemas/fields-of.ts'
import type { Trigger } from '../../../schemas/types.ts'
import { declared, dkeys } from '../../declared-client.ts'
import { lazyFrom } from '../../lib/chunks.ts'
import { triggerPath } from '../../lib/paths.ts'
import { proposedIn } from '../../lib/proposed.ts'
import { draftOf, NEW_TRIGGER } from '../../lib/trigger-draft.ts'
import { useChange, warningsIn } from '../../lib/use-change.ts'
import { useShown } from '../../lib/use-shown.ts'
import { useTab } from '../../lib/use-tab.ts'
import { DeletePart } from '../../parts/delete-part.tsx'
import { Mark } from '../../parts/mark.tsx'
import { Acts } from '../../parts/may.tsx'
import { PageHead } from '../../parts/page.tsx'
import { TabRow } from '../../parts/page-tabs.tsx'
import { Failed, LoadingRows } from '../../parts/states.tsx'
import { StandingWarnings, savedState } from '../../parts/warnings.tsx'
import { FiringList } from '../firings/firing-list.tsx'
import { SubscriptionsTab } from './subscriptions-tab.tsx'
import { TriggerHistory } from './trigger-history.tsx'
import { TriggerOverview } from './trigger-overview.tsx'
import { WhyTab } from './why-tab.tsx'

const editors = lazyFrom(() => import('./trigger-editor.tsx'))
const TriggerEditor = editors('TriggerEditor')
const NewTriggerEditor = editors('NewTriggerEditor')

const TABS = [
  { value: 'overview', label: 'Overview' },
  { value: 'firings', label: 'Firings' },
  { value: 'why', label: 'Why' },
  { value: 'subscriptions', label: 'Subscriptions' },
  { value: 'edit', label: 'Edit' },
  { value: 'history', label: 'History' },
]

export default function TriggerPage() {
  const { name } = useParams()
  return name === undefined ? <NewTrigger /> : <ExistingTrigger key={name} name={name} />
}

function NewTrigger() {
  const [query] = useSearchParams()
  const project = query.get('project') ?? undefined
  const proposed = proposedIn(useLocation().state)
  const source = query.get('source')
  const go = useNavigate()
  return (
    <>
      <PageHead title="Add trigger" />
      <Suspense fallback={<LoadingRows />}>
        <NewTriggerEditor
          isProposed={proposed !== null}
          start={
            proposed
              ? draftOf(proposed as FieldsOf<Trigger>)
              : { ...NEW_TRIGGER, sources: source ? [source] : [] }
          }
          save={(body) => declared.createTrigger({ ...body, ...(project ? { project } : {}) })}
          onSaved={(result) =>
            void go(project ? `/projects/${project}` : triggerPath(result.name), savedState(result))
          }
          label="Add trigger"
        />
      </Suspense>
    </>
  )
}

function ExistingTrigger({ name }: { name: string }) {
  const [tab, goTo] = useTab(TABS)
  const { data, error, refetch } = useQuery({
    queryKey: dkeys.trigger(name),
    queryFn: () => declared.trigger(name),
    refetchInterval: 10_000,
  })
  if (error || !data)
    return (
      <>
        <PageHead title={name} />
        {error ? <Failed what="the trigger" error={error} onRetry={() => void refetch()} /> : <LoadingRows />}
      </>
    )
  return (
    <>
      <PageHead title={name}>
        <Mark tone={data.paused ? 'quiet' : 'good'}>{data.paused ? 'paused' : 'active'}</Mark>
        <Moves trigger={data} />
      </PageHead>
      {data.paused && (
        <Alert color="yellow" mb="md" p="xs">
          Paused: nothing trips this trigger.
        </Alert>
      )}
      <StandingWarnings of={data.warnings} />
      <Tabs value={tab} onChange={goTo} keepMounted={false}>
        <TabRow tabs={TABS} chosen={tab} />
        <Tabs.Panel value="overview">
          <TriggerOverview trigger={data} />
        </Tabs.Panel>
        <Tabs.Panel value="firings">
          <FiringList query={{ trigger: name }} without="trigger" />
        </Tabs.Panel>
        <Tabs.Panel value="why">
          <WhyTab trigger={name} />
        </Tabs.Panel>
        <Tabs.Panel value="subscriptions">
          <SubscriptionsTab trigger={data} />
        </Tabs.Panel>
        <Tabs.Panel value="edit">
          <Suspense fallback={<LoadingRows />}>
            <Edit trigger={data} refetch={refetch} />
          </Suspense>
        </Tabs.Panel>
        <Tabs.Panel value="history">
          <TriggerHistory name={name} />
        </Tabs.Panel>
      </Tabs>
    </>
  )
}

function Moves({ trigger: { name, accepts } }: { trigger: Trigger }) {
  const go = useNavigate()
  const move = useChange((event: 'pause' | 'resume') => declared.moveTrigger(name, event), {
    failed: (event) => `Couldn’t ${event} ${name}`,
    said: (_result, event) => (event === 'pause' ? `${name} is paused` : `${name} is evaluated again`),
  })
  return (
    <Acts>
      {accepts.includes('pause') && (
        <Button variant="default" loading={move.isPending} onClick={() => move.mutate('pause')}>
          Pause
        </Button>
      )}
      {accepts.includes('resume') && (
        <Button loading={move.isPending} onClick={() => move.mutate('resume')}>
          Resume
        </Button>
      )}
      <DeletePart
        kind="trigger"
        name={name}
        remove={declared.deleteTrigger}
        onDone={() => void go('/triggers')}
      />
    </Acts>
  )
}

/** The form keeps what it was filled from, whatever others save meanwhile. */
function Edit({
  trigger,
  refetch,
}: {
  trigger: Trigger
  refetch: () => Promise<{ data: Trigger | undefined }>
}) {
  const { shown, round, reload } = useShown(trigger, refetch, 'trigger')
  const [warnings, setWarnings] = useState<string[]>([])
  if (!shown) return <LoadingRows />
  return (
    <TriggerEditor
      key={round}
      start={draftOf(shown)}
      stored={shown}
      warnings={warnings}
      onSaved={(result) => {
        setWarnings(warningsIn(result))
        void reload()
      }}
      onTakeTheirs={() => void reload()}
      save={(body, version) => declared.updateTrigger(body, version)}
      label="Save"
    />
  )
}
