/** What is to change, what did, and all of it as a file: proposals, the history, the catalog file. */
import { Group, Stack } from '@mantine/core'
import { useSearchParams } from 'react-router'
import { ChangeHistory } from '../../parts/change-history.tsx'
import { PageHead } from '../../parts/page.tsx'
import { PageTabs } from '../../parts/page-tabs.tsx'
import { WordSelect } from '../../parts/word-select.tsx'
import { PROJECTS } from '../../parts/words-read.ts'
import { CatalogFile } from '../catalog/catalog-file.tsx'
import { Proposals } from '../proposals/proposals.tsx'

const TABS = [
  { value: 'proposals', label: 'Proposals', content: <Proposals /> },
  { value: 'history', label: 'History', content: <History /> },
  { value: 'catalog', label: 'Catalog file', content: <CatalogFile /> },
]

export default function ChangesPage() {
  return (
    <>
      <PageHead title="Changes" />
      <PageTabs tabs={TABS} />
    </>
  )
}

/** Of the whole instance, or of the project that the address names. */
function History() {
  const [address, setAddress] = useSearchParams()
  const project = address.get('project') ?? undefined
  return (
    <Stack>
      <Group>
        <WordSelect
          label="Project"
          all="All projects"
          data={PROJECTS}
          value={project}
          onChange={(value) =>
            setAddress({ tab: 'history', ...(value ? { project: value } : {}) }, { replace: true })
          }
        />
      </Group>
      <ChangeHistory key={project} {...(project ? { project } : {})} />
    </Stack>
  )
}
