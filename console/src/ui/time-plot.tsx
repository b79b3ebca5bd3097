import { useEffect, useState } from 'preact/hooks';
import { useStore } from '../lib/store.js';
import { theme } from '../shell/theme.js';
import { useWidth } from './figure.js';
import type { PlotData } from './plot.js';
import { Failure, Loading } from './states.js';

type Draw = typeof import('./plot.js')['draw'];

/** True while the system prefers dark colours. */
function useSystemDark(): boolean {
  const [isDark, setDark] = useState(() => matchMedia('(prefers-color-scheme: dark)').matches);
  useEffect(() => {
    const query = matchMedia('(prefers-color-scheme: dark)');
    const note = () => setDark(query.matches);
    query.addEventListener('change', note);
    return () => query.removeEventListener('change', note);
  }, []);
  return isDark;
}

/** A chart over time. The code that draws it is loaded with the first chart. */
export function TimePlot({ data, height = 260 }: { readonly data: PlotData; readonly height?: number }) {
  const { ref, width } = useWidth<HTMLDivElement>();
  const [draw, setDraw] = useState<Draw>();
  const [error, setError] = useState<unknown>();
  const currentTheme = useStore(theme);
  const systemDark = useSystemDark();
  useEffect(() => {
    import('./plot.js').then((module) => setDraw(() => module.draw), setError);
  }, []);
  useEffect(() => {
    if (!ref.current || !draw || width === 0) return;
    return draw(ref.current, data, width, height);
    // A canvas keeps the colours it was drawn with.
  }, [ref, draw, data, width, height, currentTheme, systemDark]);
  if (error !== undefined)
    return <Failure what="Could not load the chart" error={new Error('Use the table, or reload the page.')} />;
  return (
    <div ref={ref} class="plot" style={{ minHeight: `${height}px` }}>
      {!draw && <Loading what="the chart" />}
    </div>
  );
}
