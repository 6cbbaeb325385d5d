/** The change history of the whole instance. */
import { ChangeHistory } from '../../parts/change-history.tsx'
import { PageHead } from '../../parts/page.tsx'

export default function ChangesPage() {
  return (
    <>
      <PageHead title="Change history" />
      <ChangeHistory />
    </>
  )
}
