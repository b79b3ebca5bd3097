import { Page, ZoneNote } from '../../shell/page.js';
export default function Overview() {
  return (
    <Page title="Overview" about={<ZoneNote />}>
      Hi
    </Page>
  );
}
