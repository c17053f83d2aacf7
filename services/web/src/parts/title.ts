// The name of the page in the tab, and its icon: of a run, how that is.
import type { Tone } from './face.ts';

const ICONS: Partial<Record<Tone, string>> = {
  wait: '/favicon-run.svg',
  run: '/favicon-run.svg',
  good: '/favicon-good.svg',
  bad: '/favicon-bad.svg',
  warn: '/favicon-warn.svg',
};

const link = document.querySelector<HTMLLinkElement>('link[rel="icon"]');
const own = link?.getAttribute('href') ?? '';

export function setTitle(text: string, tone: Tone = 'idle'): void {
  document.title = `${text} · wfg`;
  const icon = ICONS[tone] ?? own;
  if (link && link.getAttribute('href') !== icon) link.setAttribute('href', icon);
}
