// Light, dark, or as the system has it.
import { THEMES, theme } from '../theme.ts';

const WORDS = { system: 'As the system', light: 'Light', dark: 'Dark' };

export function ThemeChoice() {
  return (
    <label class="theme-choice">
      <span class="unseen">Theme</span>
      <select
        class="field small"
        value={theme.value}
        onChange={({ currentTarget }) => {
          theme.value = THEMES.find((one) => one === currentTarget.value) ?? 'system';
        }}
      >
        {THEMES.map((one) => (
          <option key={one} value={one}>
            {WORDS[one]}
          </option>
        ))}
      </select>
    </label>
  );
}
