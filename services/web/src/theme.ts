// Light, dark or as the system has it: kept in the browser, and set before the first paint by public/theme.js.
import { effect, signal } from '@preact/signals';

export const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

/** As public/theme.js reads it. */
const KEY = 'wfg-theme';

export const theme = signal<Theme>(THEMES.find((one) => one === localStorage.getItem(KEY)) ?? 'system');

effect(() => {
  const { dataset } = document.documentElement;
  if (theme.value === 'system') {
    localStorage.removeItem(KEY);
    delete dataset.theme;
  } else {
    localStorage.setItem(KEY, theme.value);
    dataset.theme = theme.value;
  }
});
