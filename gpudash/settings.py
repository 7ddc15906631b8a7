"""Settings of gpudash, all from the environment; docs/settings.md is the table of them."""

from __future__ import annotations

import re
from pathlib import Path

from gpudash import __version__
from gpudash.broker import KEEPALIVE, secured
from gpudash.config import env, env_file, external_accounts
from gpudash.config.data_folder import default_folder
from gpudash.config.database_url import NO_POOLER, POOLERS, database
from gpudash.workers import queues

env_file.load("GPUDASH_ENV_FILE")
BASE_DIR = Path(__file__).resolve().parent.parent
ENVIRONMENT = env.choice("GPUDASH_ENV", "local", ("local", "production"))
PRODUCTION = ENVIRONMENT == "production"
DATA_DIR = env.folder("GPUDASH_DATA_DIR", default_folder(BASE_DIR), mode=0o700)
SECRET_KEY = env.secret_key("GPUDASH_SECRET_KEY", DATA_DIR, PRODUCTION)
SECRET_KEY_FALLBACKS = env.words("GPUDASH_SECRET_KEY_FALLBACKS")
DEBUG = env.flag("GPUDASH_DEBUG", False)
if DEBUG and PRODUCTION:
    raise env.BadSetting("GPUDASH_DEBUG", "must not be on in production")
ALLOWED_HOSTS = env.words("GPUDASH_ALLOWED_HOSTS", "" if PRODUCTION else "localhost,127.0.0.1,[::1],testserver")
if PRODUCTION and not ALLOWED_HOSTS:
    raise env.BadSetting("GPUDASH_ALLOWED_HOSTS", "must list the host names of the service, separated by commas")
CSRF_TRUSTED_ORIGINS = env.words("GPUDASH_TRUSTED_ORIGINS")
# Origins whose pages may read REST with a token.
CORS_ORIGINS = env.origins("GPUDASH_CORS_ORIGINS")

# Where the cluster is, and how it is read.
KUBECONFIG = env.text("GPUDASH_KUBECONFIG")
CREDENTIAL_FOLDERS = env.folders("GPUDASH_CREDENTIAL_FOLDERS")
# Whether this process serves the pages and reads the clusters too: `demo` and `standalone` set it, and nothing else can.
ONE_PROCESS = False
HISTORY_DAYS = env.number("GPUDASH_HISTORY_DAYS", 90, 1, 3650)
IDLE_MINUTES = env.number("GPUDASH_IDLE_MINUTES", 30, 5, 10_080)
GPUSHARE_RESOURCE = env.text("GPUDASH_GPUSHARE_RESOURCE", "aliyun.com/gpu-mem")
GPUSHARE_COUNT = env.text("GPUDASH_GPUSHARE_COUNT", "aliyun.com/gpu-count")
GPUSHARE_ANNOTATION = env.text("GPUDASH_GPUSHARE_ANNOTATION", "ALIYUN_COM_GPU_MEM")
RESOURCES = env.resources("GPUDASH_RESOURCES", "")
ALPHA_DRIVER_PATH = env.text("GPUDASH_ALPHA_DRIVER_PATH", "")
ASSUME_TIMEOUT_S = env.number("GPUDASH_ASSUME_TIMEOUT_S", 300, 10, 86400)
LIST_PAGE = env.number("GPUDASH_LIST_PAGE", 2000, 10, 5000)
AUDIT_S = env.number("GPUDASH_AUDIT_S", 3600, 1, 604_800)
LEASE_S = env.number("GPUDASH_LEASE_S", 10, 5, 60)

# Validations: where runs are launched, how many at once, and how long each step may take (seconds).
VALIDATION_NAMESPACE = env.text("GPUDASH_VALIDATION_NAMESPACE", "gpudash-validations")
# What an operator may run, and where.
ALLOWED_IMAGES = env.images("GPUDASH_ALLOWED_IMAGES", "suites")
PULL_SECRETS = env.objects("GPUDASH_PULL_SECRETS")
TOLERATED_TAINTS = env.taints(
    "GPUDASH_TOLERATED_TAINTS",
    "nvidia.com/gpu,microsoft.com/directx,sku=gpu,os=windows,kubernetes.io/os,node.kubernetes.io/os,kubernetes.io/arch,"
    "node.kubernetes.io/unschedulable",
)
MAX_RUNS_PER_CLUSTER = env.number("GPUDASH_MAX_RUNS_PER_CLUSTER", 50, 1, 10_000)
MAX_RUNS_PER_NODE = env.number("GPUDASH_MAX_RUNS_PER_NODE", 8, 1, 1_000)
MAX_RUNS_PER_USER = env.number("GPUDASH_MAX_RUNS_PER_USER", 50, 1, 10_000)
RUN_SLOWER_PERCENT = env.number("GPUDASH_RUN_SLOWER_PERCENT", 20, 1, 1_000)
FLOORS = env.floors("GPUDASH_FLOORS_FILE")
RUN_LOG_HEAD_BYTES = env.number("GPUDASH_RUN_LOG_HEAD_BYTES", 2 << 20, 4096, 1 << 28)
RUN_LOG_TAIL_BYTES = env.number("GPUDASH_RUN_LOG_TAIL_BYTES", 2 << 20, 4096, 1 << 28)
RUN_QUEUE_TIMEOUT_S = env.number("GPUDASH_RUN_QUEUE_TIMEOUT_S", 86_400, 60, 30 * 86_400)
RUN_CREATE_TIMEOUT_S = env.number("GPUDASH_RUN_CREATE_TIMEOUT_S", 600, 30, 86_400)
RUN_SCHEDULE_TIMEOUT_S = env.number("GPUDASH_RUN_SCHEDULE_TIMEOUT_S", 600, 30, 86_400)
RUN_PULL_TIMEOUT_S = env.number("GPUDASH_RUN_PULL_TIMEOUT_S", 3_600, 60, 86_400)
RUN_IMAGE_RETRY_S = env.number("GPUDASH_RUN_IMAGE_RETRY_S", 300, 10, 86_400)
RUN_COLLECT_TIMEOUT_S = env.number("GPUDASH_RUN_COLLECT_TIMEOUT_S", 300, 30, 86_400)
RUN_OUTAGE_LIMIT_S = env.number("GPUDASH_RUN_OUTAGE_LIMIT_S", 3_600, 0, 7 * 86_400)
# How often it is looked whether data have changed (seconds): what is computed of them in between is shared (`runtime.cached`).
SHARED_LOOK_S = 1.0

INSTALLED_APPS = [
    "pages",
    "accounts",
    "audit",
    "runtime",
    "inventory",
    "validations",
    "quarantine",
    "notifications",
    "gpudash",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django_filters",
    "django_htmx",
    "allauth.account",
    "allauth.socialaccount",
    "allauth.socialaccount.providers.openid_connect",
    "allauth.mfa",
    "rest_framework",
    "drf_spectacular",
]
MIDDLEWARE = [
    "gpudash.middleware.request_log.RequestLogMiddleware",
    "gpudash.middleware.cors.CorsMiddleware",
    "gpudash.middleware.database_away.DatabaseAwayMiddleware",
    "gpudash.middleware.null_characters.NullCharactersMiddleware",
    "gpudash.middleware.short_heads.ShortHeadsMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "gpudash.middleware.compression.CompressionMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "gpudash.middleware.time_zone.TimeZoneMiddleware",
    "gpudash.probes.HostMiddleware",
    "gpudash.middleware.body_limit.BodyLimitMiddleware",
    "gpudash.middleware.request_limit.RequestLimitMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "gpudash.middleware.proxy_sign_in.ProxySignInMiddleware",
    "gpudash.middleware.roles.RoleMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "gpudash.middleware.security_headers.ContentSecurityPolicyMiddleware",
    "gpudash.middleware.shared_answers.SharedAnswersMiddleware",
    "pages.frame.holders.HoldersMiddleware",
]
#: Shown in the footer and on the page of the installation.
VERSION = __version__
ROOT_URLCONF = "gpudash.urls"
WSGI_APPLICATION = "gpudash.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "pages.frame.navigation.frame",
            ],
            "builtins": ["pages.templatetags.units", "pages.templatetags.terms", "pages.templatetags.worded"],
        },
    }
]

DATABASES = {
    "default": database(
        env.text("GPUDASH_DATABASE_URL"),
        env.text("GPUDASH_DATABASE_PASSWORD"),
        DATA_DIR,
        PRODUCTION,
        env.choice("GPUDASH_DATABASE_POOLER", NO_POOLER, POOLERS),
    )
}
DATABASE_CONNECTIONS = env.number("GPUDASH_DATABASE_CONNECTIONS", 10, 2, 500)
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# Accounts of somebody else's directory, and what its groups are here. A session is as good as the backend that it came by.
OIDC = external_accounts.issuer(PRODUCTION)
TRUSTED_PROXY = env.address("GPUDASH_TRUSTED_PROXY")
PROXY_HEADERS = external_accounts.proxy_headers(TRUSTED_PROXY)
GROUP_ROLES = external_accounts.group_roles(bool(OIDC or PROXY_HEADERS))
EXTERNAL_SESSION_HOURS = env.number("GPUDASH_EXTERNAL_SESSION_HOURS", 12, 1, 24 * 30)
LOCAL_ACCOUNTS = external_accounts.local_accounts(bool(OIDC or PROXY_HEADERS))
AUTHENTICATION_BACKENDS = [
    *(["django.contrib.auth.backends.ModelBackend"] if LOCAL_ACCOUNTS else []),
    "accounts.backend.ExternalBackend",
    "accounts.backend.ClusterBackend",
]
# allauth: state, PKCE and tokens of OpenID Connect, and codes of a second step. Its own pages are not routed.
ACCOUNT_ADAPTER = "accounts.openid.Accounts"
SOCIALACCOUNT_ADAPTER = "accounts.openid.SingleSignOn"
SOCIALACCOUNT_PROVIDERS = OIDC.providers if OIDC else {}
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_SIGNUP_FIELDS = ["username*"]
MFA_ADAPTER = "accounts.two_factor.Secrets"
MFA_SUPPORTED_TYPES = ["totp", "recovery_codes"]
AUTH_PASSWORD_VALIDATORS = [
    *(
        {"NAME": f"django.contrib.auth.password_validation.{name}"}
        for name in ("UserAttributeSimilarityValidator", "MinimumLengthValidator", "CommonPasswordValidator")
    ),
    {"NAME": "accounts.passwords.MaximumLengthValidator"},
    {"NAME": "accounts.passwords.EndsTokens"},
]
TOKENS_PER_USER = env.number("GPUDASH_TOKENS_PER_USER", 50, 1, 10_000)
REQUESTS_PER_MINUTE = env.number("GPUDASH_REQUESTS_PER_MINUTE", 1200, 0, 1_000_000)
REQUESTS_PER_MINUTE_ADDRESS = env.number("GPUDASH_REQUESTS_PER_MINUTE_ADDRESS", 6000, 0, 10_000_000)
PASSWORD_CHECKS = env.number("GPUDASH_PASSWORD_CHECKS", 2, 1, 64)
LOGIN_URL = "sign-in"
LOGIN_REDIRECT_URL = "overview"
LOGOUT_REDIRECT_URL = "sign-in"

BASE_PATH = env.base_path("GPUDASH_BASE_PATH")
if BASE_PATH != "/":
    FORCE_SCRIPT_NAME = BASE_PATH.rstrip("/")
SESSION_COOKIE_NAME = "gpudash_session"
CSRF_COOKIE_NAME = "gpudash_csrf"
SESSION_COOKIE_PATH = CSRF_COOKIE_PATH = LANGUAGE_COOKIE_PATH = BASE_PATH
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_HTTPONLY = True
TLS = env.flag("GPUDASH_TLS", PRODUCTION)
# Scheme, host and port of this installation as people reach it: links in messages begin with it.
_NAMED = [host for host in ALLOWED_HOSTS if PRODUCTION and not host.startswith((".", "*"))]
PUBLIC_URL = env.origin("GPUDASH_PUBLIC_URL", f"{'https' if TLS else 'http'}://{_NAMED[0]}" if _NAMED else "")
# Private addresses that messages may be sent to.
NOTIFY_ALLOW = env.allowed_receivers("GPUDASH_NOTIFY_ALLOW")
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = TLS
SECURE_SSL_REDIRECT = TLS
SECURE_REDIRECT_EXEMPT = [f"^{re.escape(BASE_PATH[1:])}(healthz|readyz|metrics|metrics/self)$"]
SECURE_HSTS_SECONDS = 31536000 if TLS else 0
# Other services under the same name are not ours to bind, and a preload list cannot be left for months.
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = env.flag("GPUDASH_HSTS_SUBDOMAINS", False) and TLS
# Both are the installation's to say, by GPUDASH_HSTS_SUBDOMAINS.
SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W021"]
BEHIND_PROXY = env.flag("GPUDASH_BEHIND_PROXY", False)
PROXY_HOPS = env.number("GPUDASH_PROXY_HOPS", 0, 0, 9)
if BEHIND_PROXY:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
elif PROXY_HOPS:
    raise env.BadSetting(
        "GPUDASH_PROXY_HOPS", "requires GPUDASH_BEHIND_PROXY=true; without a proxy any client could send the header"
    )
X_FRAME_OPTIONS = "DENY"
DATA_UPLOAD_MAX_MEMORY_SIZE = 1 << 20

LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English"), ("zh-hans", "简体中文")]
LOCALE_PATHS = [BASE_DIR / "locale"]
USE_TZ = True
TIME_ZONE = env.time_zone("GPUDASH_TIME_ZONE", "UTC")

STATIC_URL = f"{BASE_PATH}static/"
# Only `collectstatic` writes it, and only web reads it. Outside production files are served from where they stand.
STATIC_ROOT = env.path("GPUDASH_STATIC_ROOT", BASE_DIR / "staticfiles" if PRODUCTION else None)
STATICFILES_DIRS = [BASE_DIR / "static"]
WHITENOISE_USE_FINDERS = not PRODUCTION
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"
        if PRODUCTION
        else "django.contrib.staticfiles.storage.StaticFilesStorage"
    },
}

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "accounts.authentication.TokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["accounts.permissions.RolePermission"],
    "DEFAULT_RENDERER_CLASSES": ["api.frame.rendering.MsgspecRenderer"],
    "DEFAULT_PARSER_CLASSES": ["api.frame.parsing.StrictJSONParser"],
    "DEFAULT_METADATA_CLASS": "api.frame.options.Methods",
    "DEFAULT_SCHEMA_CLASS": "api.frame.answers.Operations",
    "DEFAULT_PAGINATION_CLASS": "api.frame.pagination.CursorPagination",
    "DEFAULT_FILTER_BACKENDS": ["api.frame.filtering.StrictFilterBackend"],
    "EXCEPTION_HANDLER": "api.frame.problems.problem_response",
    "PAGE_SIZE": 100,
    "UNAUTHENTICATED_USER": "django.contrib.auth.models.AnonymousUser",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "gpudash",
    "DESCRIPTION": "Free GPU memory, allocations and validation of cards on Kubernetes.",
    "VERSION": "1",
    "SERVE_INCLUDE_SCHEMA": False,
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "COMPONENT_SPLIT_REQUEST": True,
    # 3.1: "or null" is a type of its own there.
    "OAS_VERSION": "3.1.0",
    "PREPROCESSING_HOOKS": ["api.frame.schema.one_address_each"],
    "POSTPROCESSING_HOOKS": ["api.frame.answers.add_problems"],
}

# Celery: queues by the credentials that their workers hold (gpudash/workers/queues.py); the schedule is gpudash/celery.py.
CELERY_BROKER_URL = secured(
    env.broker("GPUDASH_BROKER_URL", PRODUCTION), env.text("GPUDASH_BROKER_PASSWORD"), env.text("GPUDASH_BROKER_CA")
)
# A broker that drops packets is noticed: commands end after 10 s, a waiting read after about 21 s (1 s + 2 checks of 10 s),
# and the kernel gives an idle connection up after 30 s. Longer than BRPOP waits (1 s), so that quiet queues are no failure.
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "socket_connect_timeout": 3,
    "socket_timeout": 10,
    "socket_keepalive": True,
    "socket_keepalive_options": KEEPALIVE,
    "health_check_interval": 10,
}
CELERY_BROKER_CONNECTION_MAX_RETRIES = None
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_DEFAULT_QUEUE = queues.DEFAULT
CELERY_TASK_ROUTES = queues.ROUTES
CELERY_WORKER_POOL = "threads"
CELERY_WORKER_CONSUMER = "gpudash.workers.consumer:Consumer"
# None of our tasks is acknowledged late, so nothing is cancelled; else Celery warns at each loss that it once may.
CELERY_WORKER_CANCEL_LONG_RUNNING_TASKS_ON_CONNECTION_LOSS = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
# Whoever reaches the broker could stop workers by it, and nothing here uses it.
CELERY_WORKER_ENABLE_REMOTE_CONTROL = False
CELERY_TIMEZONE = "UTC"
CELERY_BEAT_SCHEDULER = "gpudash.workers.schedule:Schedule"

ALIVE_FILE = env.path("GPUDASH_ALIVE_FILE", None)
#: Private key of certificates; read when one is signed.
SIGNING_KEY_FILE = env.path("GPUDASH_SIGNING_KEY_FILE", None)
LOG_FORMAT = env.choice("GPUDASH_LOG_FORMAT", "json" if PRODUCTION else "text", ("json", "text"))
LOG_LEVEL = env.choice("GPUDASH_LOG_LEVEL", "INFO", ("DEBUG", "INFO", "WARNING", "ERROR"))
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "filters": {
        "ids": {"()": "gpudash.middleware.request_log.IdsFilter"},
        "outages": {"()": "gpudash.logs.outages.OutagesFilter"},
        "secrets": {"()": "gpudash.logs.secrets.SecretsFilter"},
    },
    "formatters": {
        "text": {"()": "gpudash.logs.lines.LineFormatter", "format": "%(asctime)s %(levelname)s %(name)s %(message)s"},
        "json": {
            "()": "pythonjsonlogger.json.JsonFormatter",
            "fmt": "%(asctime)s %(levelname)s %(name)s %(message)s %(request_id)s %(cluster)s",
            "rename_fields": {"asctime": "time", "levelname": "level", "name": "logger"},
        },
    },
    "handlers": {
        "console": {"class": "logging.StreamHandler", "formatter": LOG_FORMAT, "filters": ["ids", "outages", "secrets"]}
    },
    "root": {"handlers": ["console"], "level": LOG_LEVEL},
    "loggers": {
        # Its own handlers know no filter, and one of them would mail whole requests.
        "django": {"handlers": []},
        # Lines of `runserver` with query strings; gpudash.request has the same without.
        "django.server": {"handlers": [], "level": "CRITICAL"},
        "celery": {"level": "WARNING"},
        "kombu": {"level": "ERROR"},
        "kubernetes": {"level": "WARNING"},
        "waitress": {"level": "WARNING"},
        "psycopg.pool": {"level": "ERROR"},
        # A line for each request that waits for a thread.
        "waitress.queue": {"level": "ERROR"},
        "urllib3": {"level": "ERROR"},
    },
}
