/** Guided setup of one project: its plan while it is a draft, then what to connect, then trying it. */
import { Badge, Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Suspense, useState } from 'react'
import { Link, useParams, useSearchParams } from 'react-router'
import type { Setup } from '../../../schemas/types.ts'
import { ApiError } from '../../client.ts'
import { declared, dkeys } from '../../declared-client.ts'
import { lazyFrom } from '../../lib/chunks.ts'
import { PageHead } from '../../parts/page.tsx'
import { Empty, Failed, LoadingRows } from '../../parts/states.tsx'
import { setups, skeys } from '../../setup-client.ts'
import { DraftStep } from './draft-step.tsx'
import { Steps } from './steps.tsx'

const ConnectStep = lazyFrom(() => import('./connect-step.tsx'))('ConnectStep')
const TryStep = lazyFrom(() => import('./try-step.tsx'))('TryStep')
const DeleteProject = lazyFrom(() => import('../projects/delete-project.tsx'))('DeleteProject')

/** While it is planned, and while the first events are waited for. */
const PLANNING_MS = 1_000
const WAITING_MS = 3_000

export default function SetupPage() {
  const { id = '' } = useParams()
  const [query] = useSearchParams()
  const { data, error, isPending, refetch } = useQuery({
    queryKey: skeys.of(id),
    queryFn: () => setups.get(id),
    refetchInterval: ({ state }) => intervalOf(state.data),
  })
  if (isPending) return <LoadingRows />
  if (error instanceof ApiError && error.status === 404)
    return (
      <>
        <PageHead title="Guided setup" />
        <Empty title={data ? 'This project was deleted; undo it under Changes' : error.message}>
          <Button component={Link} to="/projects">
            Projects
          </Button>
        </Empty>
      </>
    )
  if (error)
    return (
      <>
        <PageHead title="Guided setup" />
        <Failed what="the setup" error={error} onRetry={() => void refetch()} />
      </>
    )
  const asked = query.get('step')
  // A step that was reached can be looked at again.
  const step = !data.draft && (asked === 'connect' || asked === 'try') ? asked : data.step
  return (
    <>
      <PageHead title={data.draft ? data.plan?.name || data.name : data.name}>
        {data.draft && (
          <Badge variant="default" tt="none">
            Draft
          </Badge>
        )}
        {data.draft ? <DeleteDraft id={id} /> : <ToProject id={id} />}
      </PageHead>
      <Steps at={step} links={data.draft ? {} : linksOf(id)} />
      {data.draft && <DraftStep setup={data} />}
      <Suspense fallback={<LoadingRows />}>
        {!data.draft && step === 'connect' && <ConnectStep setup={data} />}
        {!data.draft && (step === 'try' || step === 'done') && <TryStep setup={data} />}
      </Suspense>
    </>
  )
}

function intervalOf(setup: Setup | undefined): number | false {
  if (!setup) return WAITING_MS
  if (setup.planning?.state === 'running') return PLANNING_MS
  return setup.draft || setup.step === 'done' ? false : WAITING_MS
}

const linksOf = (id: string) => ({
  connect: `/projects/${id}/setup?step=connect`,
  try: `/projects/${id}/setup?step=try`,
})

function ToProject({ id }: { id: string }) {
  return (
    <Button component={Link} to={`/projects/${id}`} variant="default">
      Project page
    </Button>
  )
}

function DeleteDraft({ id }: { id: string }) {
  const [isAsking, setAsking] = useState(false)
  const project = useQuery({ queryKey: dkeys.project(id), queryFn: () => declared.project(id) })
  return (
    <>
      <Button variant="default" disabled={!project.data} onClick={() => setAsking(true)}>
        Delete draft…
      </Button>
      <Suspense>
        {isAsking && project.data && (
          <DeleteProject project={project.data} onClose={() => setAsking(false)} />
        )}
      </Suspense>
    </>
  )
}
