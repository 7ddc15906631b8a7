// REST's reference: Swagger UI on the OpenAPI document. Its requests use the session of the reader, its commands a token.
"use strict";

(() => {
  const place = document.getElementById("api");
  const nothing = () => () => null;
  // The page has a heading, a main part and a session already. A path stands in a button, so it is no link.
  const frame = ({ React, getComponent }) => ({
    components: {
      Parts: () => {
        const names = ["errors", "FilterContainer", "operations", "Models"];
        const parts = names.map((key) => React.createElement(getComponent(key, true), { key }));
        return React.createElement("div", { className: "swagger-ui" }, parts);
      },
    },
    wrapComponents: {
      DeepLink: () => (shown) => React.createElement("span", null, shown.text),
      authorizeOperationBtn: nothing,
      CopyToClipboardBtn: nothing,
    },
  });

  // What it leaves without a name, or out of reach of the keyboard.
  new MutationObserver(() => {
    for (const field of place.querySelectorAll("tr[data-param-name] select:not([aria-label])"))
      field.ariaLabel = field.closest("tr").dataset.paramName;
    for (const text of place.querySelectorAll("pre:not([tabindex])")) text.tabIndex = 0;
  }).observe(place, { childList: true, subtree: true });

  window.SwaggerUIBundle({
    url: place.dataset.document,
    domNode: place,
    presets: [window.SwaggerUIBundle.presets.apis],
    plugins: [frame],
    layout: "Parts",
    deepLinking: true,
    // Open, they are so many that it draws only those in view: nothing else is found in the page.
    docExpansion: "none",
    filter: true,
    syntaxHighlight: false,
    defaultModelsExpandDepth: 0,
    displayRequestDuration: true,
    requestInterceptor: (request) => {
      const csrf = { "X-CSRFToken": document.querySelector("[name=csrfmiddlewaretoken]").value };
      request.userFetch = (url, asked) => fetch(url, { ...asked, headers: { ...asked.headers, ...csrf } });
      request.curlOptions = ['-H "Authorization: Bearer $TOKEN"'];
      return request;
    },
  });
})();
